"""Stages of one process share an event that several of them receive."""

from dataclasses import replace

import pytest

from nuggetstream.domain.event import BattleSubmitted
from services.wire.codec import UndecodableMessage, decode, encode, schema_of
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
