"""Stages of one process share an event that several of them receive."""

from dataclasses import replace

import pytest

from nuggetstream.domain.event import BattleSubmitted
from services.store.content.blobs import Blobs
from services.store.database import Database
from services.wire.codec import UndecodableMessage, decode, encode, schema_of, seal
from services.wire.shared_events import SharedEvents
from tests import samples

SUBMITTED = BattleSubmitted("submitted", samples.battle())
SCHEMA = schema_of(BattleSubmitted)


def test_the_same_bytes_are_decoded_once() -> None:
    first = decode(SCHEMA, encode(SUBMITTED))
    assert first == SUBMITTED
    assert decode(SCHEMA, encode(SUBMITTED)) is first


def test_a_large_event_is_not_kept_in_memory() -> None:
    large = replace(SUBMITTED, battle=samples.battle(a="tea " * 20_000))
    first = decode(SCHEMA, encode(large))
    assert first == large
    assert decode(SCHEMA, encode(large)) is not first


def test_the_same_bytes_under_another_schema_are_another_event() -> None:
    decode(SCHEMA, encode(SUBMITTED))
    with pytest.raises(UndecodableMessage):
        decode("arena.v1.BattleJudged", encode(SUBMITTED))


async def test_a_sealed_event_is_not_decoded_in_the_same_process(record: Database) -> None:
    event = replace(SUBMITTED, key="sealed")
    message = await seal(event, Blobs(record))
    assert decode(message.schema, message.body) is event


def test_a_decoded_event_is_not_encoded_again() -> None:
    body = encode(replace(SUBMITTED, key="decoded"))
    event = decode(SCHEMA, body)
    assert encode(event) is body
    assert encode(replace(event, key="changed")) != body


def test_the_event_that_was_used_least_recently_is_forgotten_with_its_body() -> None:
    shared = SharedEvents(events=2)
    first, second, third = events = [replace(SUBMITTED, key=key) for key in "abc"]
    shared.remember(SCHEMA, b"a", first)
    shared.remember(SCHEMA, b"b", second)
    assert shared.event(SCHEMA, b"a") is first
    shared.remember(SCHEMA, b"c", third)
    assert [shared.event(SCHEMA, body) for body in (b"a", b"b", b"c")] == [first, None, third]
    assert [shared.body(event) for event in events] == [b"a", None, b"c"]
