"""Protobuf that is expensive to parse is recognised without parsing it."""

import pytest
from arena.v1 import arena_pb2, battle_pb2, ratings_pb2

from nuggetstream.files.conversation import MAX_TURNS
from nuggetstream.files.sources import MAX_PASSAGES
from nuggetstream.files.submission import MAX_SOURCES, MAX_TAGS
from services.runtime.message_bounds import SMALL_BYTES, TooManyFields, check_fields

Request = arena_pb2.SubmitBattleRequest


def longest() -> bytes:
    """A battle in which every list is as long as it may be and every field is set."""
    passage = battle_pb2.CitedPassage(snippet="s", start=1, end=2)
    source = battle_pb2.Source(
        url="u", title="t", text="x", snippet="s", start=1, end=2, passages=[passage] * MAX_PASSAGES
    )
    turns = [battle_pb2.Turn(role=battle_pb2.ROLE_USER, text="x")] * MAX_TURNS
    answer = battle_pb2.Answer(system="s", text="t", sources=[source] * MAX_SOURCES, conversation=turns)
    battle = battle_pb2.Battle(
        id="i",
        arena="a",
        query="q",
        a=answer,
        b=answer,
        language="en",
        tags=["t"] * MAX_TAGS,
        conversation=turns,
    )
    return Request(battle=battle, vote=battle_pb2.VOTE_A).SerializeToString()


def test_the_longest_valid_battle_is_within_the_bounds() -> None:
    check_fields(longest(), Request)


def test_long_texts_are_no_fields() -> None:
    battle = battle_pb2.Battle(query="\x12\x00" * 2_000_000)
    check_fields(Request(battle=battle).SerializeToString(), Request)


@pytest.mark.parametrize(
    "body",
    [
        arena_pb2.SubmitBattleRequest(
            battle=battle_pb2.Battle(b=battle_pb2.Answer.FromString(b"\x1a\x00" * 60_000))
        ).SerializeToString(),
        b"\x0a\x00" * 60_000,  # the battle again and again
        b"\x98\x06\x00" * 60_000,  # a field that is not in the contract
        b"\x9b\x06\x9c\x06" * 60_000,  # groups
    ],
)
def test_many_fields_are_too_many(body: bytes) -> None:
    with pytest.raises(TooManyFields, match="more than 50,000 fields"):
        check_fields(body, Request)


def test_elements_without_tags_of_their_own_are_counted() -> None:
    request = ratings_pb2.GetLeaderboardRequest(lenses=[ratings_pb2.LENS_HUMAN] * 70_000)
    with pytest.raises(TooManyFields):
        check_fields(request.SerializeToString(), ratings_pb2.GetLeaderboardRequest)


@pytest.mark.parametrize("end", [b"\xff" * 70_000, b"\x80", b"\x0a\xff\xff\xff\xff\x0f", b"\x09"])
def test_what_is_not_valid_is_left_to_the_parser(end: bytes) -> None:
    text = Request(battle=battle_pb2.Battle(query="x" * SMALL_BYTES)).SerializeToString()
    check_fields(text + end, Request)
    check_fields(end, Request)
