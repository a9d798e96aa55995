"""Battles in protobuf: what is too long is rejected before it is converted."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from arena.v1 import arena_pb2, battle_pb2

from nuggetstream.files.submission import InvalidSubmission, parse_submission
from services.gateway.battles import ingest
from services.runtime.bus import Delivery
from services.runtime.errors import InvalidInput
from services.wire import submitted
from services.wire.submitted import MOST_ELEMENTS, submitted_battle

EMPTY_SOURCE = b"\x1a\x00"  # field 3 of an answer, of no length


def lists_in(descriptor: Any) -> Iterator[str]:
    for field in descriptor.fields:
        if field.is_repeated:
            yield field.full_name
        if field.message_type is not None:
            yield from lists_in(field.message_type)


def with_sources(number: int) -> bytes:
    """A request whose first answer has so many empty sources."""
    answer = battle_pb2.Answer.FromString(EMPTY_SOURCE * number)
    return arena_pb2.SubmitBattleRequest(battle=battle_pb2.Battle(id="x", a=answer)).SerializeToString()


def test_every_list_of_a_battle_has_a_limit() -> None:
    assert set(lists_in(battle_pb2.Battle.DESCRIPTOR)) == set(MOST_ELEMENTS)


def passages(number: int) -> battle_pb2.Answer:
    source = battle_pb2.Source(url="https://example.org", passages=[battle_pb2.CitedPassage()] * number)
    return battle_pb2.Answer(system="x", sources=[source])


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (battle_pb2.Battle(tags=["x"] * 21), "tags: is 21 long; at most 20 are accepted"),
        (
            battle_pb2.Battle(conversation=[battle_pb2.Turn()] * 51),
            "conversation: is 51 long; at most 50 are accepted",
        ),
        (
            battle_pb2.Battle(a=battle_pb2.Answer(sources=[battle_pb2.Source()] * 101)),
            "a.sources: is 101 long; at most 100 are accepted",
        ),
        (
            battle_pb2.Battle(b=battle_pb2.Answer(conversation=[battle_pb2.Turn()] * 51)),
            "b.conversation: is 51 long; at most 50 are accepted",
        ),
        (battle_pb2.Battle(b=passages(51)), "b.sources.0.passages: is 51 long; at most 50 are accepted"),
    ],
)
def test_a_list_that_is_too_long_is_named_and_nothing_is_converted(
    monkeypatch: pytest.MonkeyPatch, message: battle_pb2.Battle, problem: str
) -> None:
    monkeypatch.setattr(submitted, "from_message", None)
    with pytest.raises(InvalidSubmission) as caught:
        submitted_battle(message)
    assert caught.value.problems == [problem]


def test_json_is_answered_with_the_same_words() -> None:
    sources = [{"url": "https://example.org"}] * 101
    with pytest.raises(InvalidSubmission) as caught:
        parse_submission({"query": "?", "a": {"system": "x", "text": "y", "sources": sources}})
    assert "a.sources: is 101 long; at most 100 are accepted" in caught.value.problems


@pytest.mark.parametrize(
    ("number", "problem"),
    [
        (20_000, "a.sources: is 20000 long; at most 100 are accepted"),
        (500_000, "holds more than 50,000 fields"),
    ],
)
def test_a_message_of_the_bus_with_many_empty_sources_is_rejected_unconverted(
    monkeypatch: pytest.MonkeyPatch, number: int, problem: str
) -> None:
    monkeypatch.setattr(submitted, "from_message", None)
    with pytest.raises(InvalidInput, match=problem):
        ingest.decode(_delivery(), with_sources(number))


def _delivery() -> Delivery:
    return Delivery("arena.v1.ingest", "id", 1, 1, datetime.now(UTC), {})
