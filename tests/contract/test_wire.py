"""The contracts and the core types say the same, and nothing is lost between them."""

import dataclasses
import typing
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest
from arena.v1 import battle_pb2, events_pb2
from google.protobuf.message import Message
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Answer, Battle, Source
from nuggetstream.domain.event import Event
from nuggetstream.domain.pipeline import PIPELINE
from services.wire import codec
from services.wire.codec import UndecodableMessage, decode, encode, seal, unseal
from services.wire.subjects import EVENT_TYPES, SUBJECTS, event_name

# Protobuf strings are UTF-8: lone surrogates cannot travel and intake refuses them.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
st.register_type_strategy(str, TEXT)
st.register_type_strategy(int, st.integers(-(2**31), 2**31 - 1))
st.register_type_strategy(float, st.floats(allow_nan=False))
st.register_type_strategy(
    datetime,
    st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1)).map(lambda moment: moment.replace(tzinfo=UTC)),
)


def events_of(kind: type[Event]) -> st.SearchStrategy[Event]:
    return st.from_type(kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SUBJECTS, ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=40)
def test_every_event_survives_the_wire(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(events_of(kind))
    assert decode(codec.schema_of(kind), encode(event)) == event


def pairs(kind: Any, message: Any) -> Iterator[tuple[Any, Any]]:
    """Every (dataclass, message descriptor) pair reachable from an event."""
    yield kind, message
    for name, hint in typing.get_type_hints(kind).items():
        field = message.fields_by_name.get(name)
        inner = next((a for a in (*typing.get_args(hint), hint) if dataclasses.is_dataclass(a)), None)
        if field is not None and inner is not None:
            yield from pairs(inner, field.message_type)


@pytest.mark.parametrize("kind", SUBJECTS, ids=lambda kind: kind.__name__)
def test_contract_and_core_have_the_same_fields(kind: type[Event]) -> None:
    for core, descriptor in pairs(kind, codec.message_type(kind).DESCRIPTOR):
        assert {f.name for f in dataclasses.fields(core)} == set(descriptor.fields_by_name), core


@pytest.mark.parametrize("kind", SUBJECTS, ids=lambda kind: kind.__name__)
def test_contract_and_core_have_the_same_enumerations(kind: type[Event]) -> None:
    for core, descriptor in pairs(kind, codec.message_type(kind).DESCRIPTOR):
        for name, hint in typing.get_type_hints(core).items():
            for member in (hint, *typing.get_args(hint)):
                if isinstance(member, type) and issubclass(member, StrEnum):
                    enum = descriptor.fields_by_name[name].enum_type
                    names = {v.name for v in enum.values if v.number}
                    prefix = enum.values_by_number[0].name.removesuffix("UNSPECIFIED")
                    assert names == {prefix + each.name for each in member}


def test_every_event_has_a_subject_and_a_message() -> None:
    kinds = set(typing.get_args(events.Event))
    assert kinds == set(SUBJECTS) == set(EVENT_TYPES.values())
    assert event_name(events.BattleNuggetized) == "nuggetized"
    named = {name for step in PIPELINE.values() for name in (step.reads, step.publishes)}
    assert named <= {event_name(kind) for kind in kinds}


def test_garbage_is_undecodable() -> None:
    with pytest.raises(UndecodableMessage, match=r"not a arena\.v1\.BattleScraped"):
        decode("arena.v1.BattleScraped", b"\xff\xff\xff")


def test_an_unknown_schema_is_named() -> None:
    with pytest.raises(UndecodableMessage, match=r"unknown schema 'arena\.v9\.Nope'"):
        decode("arena.v9.Nope", b"")


@pytest.mark.parametrize(
    "message",
    [
        events_pb2.BattleSubmitted(key="k"),
        events_pb2.BattleVoted(key="k", battle_id="b"),
    ],
    ids=["missing message", "unspecified enumeration"],
)
def test_a_missing_required_field_is_undecodable(message: Message) -> None:
    with pytest.raises(UndecodableMessage, match=r"is missing|not specified"):
        decode(message.DESCRIPTOR.full_name, message.SerializeToString())


def test_an_absent_text_is_not_an_empty_text() -> None:
    assert not battle_pb2.Source(url="u").HasField("text")
    assert battle_pb2.Source(url="u", text="").HasField("text")


class Blobs:
    def __init__(self) -> None:
        self.bodies: dict[str, bytes] = {}

    async def put_blob(self, key: str, body: bytes, _battle_id: str | None) -> None:
        self.bodies[key] = body

    async def get_blob(self, key: str) -> bytes | None:
        return self.bodies.get(key)


def submitted(text: str) -> events.BattleSubmitted:
    answer = Answer("atlas", "an answer", (Source("http://example.org", text=text),))
    battle = Battle("b1", "demo", "why?", answer, replace(answer, system="birch"))
    return events.BattleSubmitted("key", battle)


async def test_a_small_event_travels_inline() -> None:
    blobs = Blobs()
    envelope = await seal(submitted("short"), blobs)
    assert not blobs.bodies
    assert await unseal(envelope.schema, envelope.body, blobs) == submitted("short")


async def test_a_large_event_travels_by_reference() -> None:
    blobs, event = Blobs(), submitted("x" * 300_000)
    envelope = await seal(event, blobs)
    assert len(envelope.body) == 64
    assert envelope.schema == "arena.v1.BattleSubmitted+ref"
    assert await unseal(envelope.schema, envelope.body, blobs) == event


async def test_a_lost_reference_is_undecodable() -> None:
    envelope = await seal(submitted("x" * 300_000), Blobs())
    with pytest.raises(UndecodableMessage, match="no body is stored"):
        await unseal(envelope.schema, envelope.body, Blobs())


async def test_the_same_event_has_the_same_message_id() -> None:
    first, second = await seal(submitted("x"), Blobs()), await seal(submitted("x"), Blobs())
    assert first == second
