"""Convert domain dataclasses to protobuf and back by reflection, with one rule for all messages.

A dataclass converts to the message of the same name whose fields have the same names. Enumerations map by
name (`Support.PARTIAL_SUPPORT` <-> `SUPPORT_PARTIAL_SUPPORT`), tuples to repeated fields, datetimes to
timestamps, and None to an absent optional field. The contract test checks every type and fails when a field
exists on one side only.
"""

import dataclasses
import types
import typing
from collections.abc import Callable, Hashable, Iterable
from datetime import UTC, datetime
from enum import StrEnum
from functools import cache
from typing import Any, TypeVar, cast

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import Timestamp

# Field descriptors have two implementations (C and Python) without a common type.
FieldDescriptor = Any

M = TypeVar("M", bound=Message)
T = TypeVar("T")


class ContractViolation(ValueError):
    """A message violates its contract, for instance by an unspecified enumeration."""


def to_message(value: object, message_type: type[M]) -> M:
    """The protobuf message of a domain dataclass.

    Raises:
        TypeError: The value is not an instance of a dataclass.
    """
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        raise TypeError(f"not a dataclass instance: {value!r}")
    message = message_type()
    for field in message.DESCRIPTOR.fields:
        content = getattr(value, field.name)
        if content is not None:
            _write(message, field, content)
    return message


def from_message(message: Message, target: type[T]) -> T:
    """The domain dataclass of a protobuf message.

    Raises:
        ContractViolation: An enumeration is unspecified or a required message is missing; the error names
            the field.
    """
    values = {}
    for name, hint in _fields(cast(Hashable, target)).items():
        values[name] = _read(message, message.DESCRIPTOR.fields_by_name[name], hint)
    return target(**values)


def enum_name(descriptor: EnumDescriptor, member: StrEnum) -> str:
    """The protobuf name of an enumeration member: the type's name in capitals, then the member's."""
    return descriptor.values_by_number[0].name.removesuffix("UNSPECIFIED") + member.name


def _write(message: Message, field: FieldDescriptor, content: Any) -> None:
    if field.is_repeated:
        for item in cast(Iterable[Any], content):
            if field.message_type is not None:
                getattr(message, field.name).add().CopyFrom(_message(field, item))
            else:
                getattr(message, field.name).append(_scalar(field, item))
    elif field.message_type is not None:
        getattr(message, field.name).CopyFrom(_message(field, content))
    else:
        setattr(message, field.name, _scalar(field, content))


def _message(field: FieldDescriptor, content: Any) -> Message:
    if isinstance(content, datetime):
        stamp = Timestamp()
        stamp.FromDatetime(content)
        return stamp
    return to_message(content, GetMessageClass(field.message_type))


def _scalar(field: FieldDescriptor, content: Any) -> Any:
    if field.enum_type is None:
        return content
    return field.enum_type.values_by_name[enum_name(field.enum_type, content)].number


def _read(message: Message, field: FieldDescriptor, hint: Any) -> Any:
    if field.is_repeated:
        (item_type, _) = typing.get_args(hint)
        read = _reader(field, item_type)
        return tuple(read(item) for item in getattr(message, field.name))
    inner = _without_none(hint)
    if inner is not hint and not message.HasField(field.name):
        return None
    if field.message_type is not None and not message.HasField(field.name):
        raise ContractViolation(f"{field.full_name} is missing")
    return _reader(field, inner)(getattr(message, field.name))


def _reader(field: FieldDescriptor, target: type[Any]) -> Callable[[Any], Any]:
    if target is datetime:
        return lambda stamp: stamp.ToDatetime(tzinfo=UTC)
    if field.message_type is not None:
        return lambda message: from_message(message, target)
    if field.enum_type is not None:
        return lambda number: _member(field, number, target)
    return lambda scalar: scalar


def _member(field: FieldDescriptor, number: int, target: type[StrEnum]) -> StrEnum:
    descriptor = field.enum_type
    assert descriptor is not None  # noqa: S101 - only called for enumerations
    known = descriptor.values_by_number.get(number)
    if known is None or known.number == 0:
        raise ContractViolation(f"{field.full_name} is not specified ({number})")
    prefix = descriptor.values_by_number[0].name.removesuffix("UNSPECIFIED")
    return target[known.name.removeprefix(prefix)]


@cache
def _fields(target: Any) -> dict[str, Any]:
    return {
        name: hint
        for name, hint in typing.get_type_hints(target).items()
        if name in target.__dataclass_fields__
    }


def _without_none(hint: Any) -> Any:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (inner,) = (arg for arg in typing.get_args(hint) if arg is not type(None))
        return inner
    return hint
