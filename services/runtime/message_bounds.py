"""Reject protobuf messages that are cheap to send and expensive to parse, before they are parsed.

Two bytes are an element of a list. Eight megabytes of text are parsed in milliseconds; the same bytes as four
million elements take seconds and most of a gigabyte, during which a server answers nobody. What makes the
difference, the number of fields, is counted here by reading tags and lengths alone.
"""

from functools import cache
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

SMALL_BYTES = 64 * 1024  # below this nothing is expensive
MAX_FIELDS = 50_000  # of a valid battle with every list as long as it may be: about 42,000

_IN_TEXT = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


class TooManyFields(ValueError):
    """The message holds more fields than any valid one has."""

    def __init__(self, most: int) -> None:
        super().__init__(f"holds more than {most:,} fields; no more are accepted")


def check_fields(body: bytes, kind: type[Message], most: int = MAX_FIELDS) -> None:
    """Check that parsing takes no longer than the size of the texts demands.

    Args:
        body: The encoded message. It need not be valid: what is not valid is left to the parser.
        kind: Type of the message.
        most: Most fields, those of messages within it and every element of a list included.

    Raises:
        TooManyFields: There are more. No more than that are read.
    """
    if len(body) <= SMALL_BYTES:
        return
    try:
        _count(body, kind.DESCRIPTOR, most)
    except IndexError:
        return  # it ends within a number


def _count(body: bytes, descriptor: Any, most: int) -> None:
    count, parts = 0, [(0, len(body), descriptor)]
    while parts:
        at, end, within = parts.pop()
        messages, packed = _lists_and_messages(within)
        while at < end:
            count += 1
            tag, at = _varint(body, at)
            match tag & 7:  # the wire type
                case 0:  # varint
                    _, at = _varint(body, at)
                case 1:  # 64 bits
                    at += 8
                case 5:  # 32 bits
                    at += 4
                case 2:  # a length and so many bytes
                    length, at = _varint(body, at)
                    if (inner := messages.get(tag >> 3)) is not None:
                        parts.append((at, min(at + length, end), inner))
                    elif tag >> 3 in packed:
                        count += length  # of elements there are no more than bytes
                    at += length
            if count > most:
                raise TooManyFields(most)


@cache
def _lists_and_messages(descriptor: Any) -> tuple[dict[int, Any], frozenset[int]]:
    """The messages within a message by the numbers of their fields, and the fields that may be packed."""
    messages = {field.number: field.message_type for field in descriptor.fields if field.message_type}
    scalars = {
        field.number
        for field in descriptor.fields
        if field.is_repeated and field.number not in messages and field.type not in _IN_TEXT
    }
    return messages, frozenset(scalars)


def _varint(body: bytes, at: int) -> tuple[int, int]:
    """The number at a position, and the position after it."""
    number = shift = 0
    while True:
        byte = body[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7
        if shift > 63:
            raise IndexError(at)  # no number is longer
