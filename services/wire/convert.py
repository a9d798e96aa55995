"""Convert values to protobuf and back by reflection, with one rule for all messages.

A value converts to a message by the attributes that have the names of its fields; a message converts to a
dataclass or a pydantic model whose fields have the same names. Enumerations map by name
(`Support.PARTIAL_SUPPORT` <-> `SUPPORT_PARTIAL_SUPPORT`) or, in a field of text, by value; tuples map to
repeated fields, datetimes to timestamps, and None to an absent optional field. The contract tests check every
type and fail when a field exists on one side only.
"""

import types
import typing
from collections.abc import Callable, Hashable, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

# Field descriptors have two implementations (C and Python) without a common type.
FieldDescriptor = Any

M = TypeVar("M", bound=Message)
T = TypeVar("T")

Write = Callable[[Message, Any], None]
Read = Callable[[Message], Any]


class ContractViolation(ValueError):
    """A message violates its contract, for instance by an unspecified enumeration."""


def to_message(value: object, message_type: type[M]) -> M:
    """The protobuf message of a value that has an attribute for each of its fields."""
    message = message_type()
    _fill(message, value)
    return message


def from_message(message: Message, target: type[T]) -> T:
    """The dataclass or pydantic model of a protobuf message.

    Raises:
        ContractViolation: An enumeration is unspecified or a required message is missing; the error names
            the field.
    """
    readers = _readers(cast(Hashable, message.DESCRIPTOR), cast(Hashable, target))
    return target(**{name: read(message) for name, read in readers})


def plain(message: Message) -> dict[str, Any]:
    """A message as plain values, without absent fields and unspecified enumerations, to be validated.

    >>> from arena.v1 import ratings_pb2
    >>> plain(ratings_pb2.GetPairsRequest(arena="x", slice={"tags": ["de"]}))
    {'arena': 'x', 'slice': {'tags': ['de'], 'expected': False}}
    """
    values = {}
    for field in message.DESCRIPTOR.fields:
        content = getattr(message, field.name)
        if field.is_repeated:
            values[field.name] = [_plain(field, item) for item in content]
        elif message.HasField(field.name) if field.has_presence else content or not field.enum_type:
            values[field.name] = _plain(field, content)
    return values


def _plain(field: FieldDescriptor, content: Any) -> Any:
    """A single value; an unknown enumeration stays a number, and a moment out of range a text."""
    if isinstance(content, Timestamp):
        try:
            return content.ToDatetime(tzinfo=UTC)
        except (ValueError, OverflowError):
            return f"{content.seconds} s after 1970"
    if isinstance(content, Message):
        return plain(content)
    if field.enum_type is not None and content in field.enum_type.values_by_number:
        name: str = field.enum_type.values_by_number[content].name
        return name.removeprefix(_prefix(field.enum_type)).lower()
    return content


def _fill(message: Message, value: object) -> None:
    for name, write in _writers(cast(Hashable, message.DESCRIPTOR)):
        content = getattr(value, name)
        if content is not None:
            write(message, content)


# The rule is worked out once per type and kept as a list of functions: events are converted at every hop.


@cache
def _writers(descriptor: Any) -> Sequence[tuple[str, Write]]:
    return [(field.name, _writer(field)) for field in descriptor.fields]


def _writer(field: FieldDescriptor) -> Write:
    name = field.name
    if field.message_type is not None:
        fill = _filler(field)

        def write_many(message: Message, content: Any) -> None:
            items = getattr(message, name)
            for item in content:
                fill(items.add(), item)

        def write_one(message: Message, content: Any) -> None:
            part = getattr(message, name)
            part.SetInParent()  # an empty message is still there
            fill(part, content)

        return write_many if field.is_repeated else write_one
    number_of = _number_of(field)

    def write_scalars(message: Message, content: Any) -> None:
        getattr(message, name).extend(map(number_of, content) if number_of else content)

    def write_scalar(message: Message, content: Any) -> None:
        setattr(message, name, number_of(content) if number_of else content)

    return write_scalars if field.is_repeated else write_scalar


def _filler(field: FieldDescriptor) -> Callable[[Any, Any], None]:
    if field.message_type.full_name == "google.protobuf.Timestamp":
        return lambda stamp, moment: stamp.FromDatetime(moment)
    return _fill


def _number_of(field: FieldDescriptor) -> Callable[[StrEnum], int] | None:
    """The protobuf number of an enumeration member; None for a field that is no enumeration."""
    if field.enum_type is None:
        return None
    prefix = _prefix(field.enum_type)
    numbers = {value.name.removeprefix(prefix): value.number for value in field.enum_type.values}
    return lambda member: numbers[member.name]


@cache
def _readers(descriptor: Any, target: Any) -> Sequence[tuple[str, Read]]:
    hints = typing.get_type_hints(target)
    fields = descriptor.fields_by_name
    names = getattr(target, "__dataclass_fields__", None) or target.model_fields
    return [(name, _reader(fields[name], hints[name])) for name in hints if name in names and name in fields]


def _reader(field: FieldDescriptor, hint: Any) -> Read:
    name = field.name
    if field.is_repeated:
        convert_item = _converter(field, typing.get_args(hint)[0])
        if convert_item is None:
            return lambda message: tuple(getattr(message, name))
        return lambda message: tuple(map(convert_item, getattr(message, name)))
    inner = _without_none(hint)
    convert = _converter(field, inner) or _same
    is_optional, is_message = inner is not hint, field.message_type is not None

    def read(message: Message) -> Any:
        if is_optional and not message.HasField(name):
            return None
        if is_message and not message.HasField(name):
            raise ContractViolation(f"{field.full_name} is missing")
        return convert(getattr(message, name))

    return read


def _converter(field: FieldDescriptor, target: type[Any]) -> Callable[[Any], Any] | None:
    """From a value of a protobuf field to the domain's; None where the two are equal."""
    if target is datetime:
        return lambda stamp: stamp.ToDatetime(tzinfo=UTC)
    if field.message_type is not None:
        return lambda message: from_message(message, target)
    if field.enum_type is not None:
        return _member_of(field, target)
    return target if issubclass(target, StrEnum) else None


def _same(value: Any) -> Any:
    return value


def _member_of(field: FieldDescriptor, target: type[StrEnum]) -> Callable[[int], StrEnum]:
    prefix = _prefix(field.enum_type)
    members = {
        value.number: target[value.name.removeprefix(prefix)]
        for value in field.enum_type.values
        if value.number and value.name.removeprefix(prefix) in target.__members__
    }

    def member(number: int) -> StrEnum:
        if number not in members:
            raise ContractViolation(f"{field.full_name} is not specified ({number})")
        return members[number]

    return member


def _prefix(descriptor: EnumDescriptor) -> str:
    return descriptor.values_by_number[0].name.removesuffix("UNSPECIFIED")


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (inner,) = (arg for arg in typing.get_args(hint) if arg is not type(None))
        return inner
    return hint
