"""Bytes that are stored compressed, by themselves or with a dictionary.

A dictionary is text that readers have, too: deflate replaces what it contains by references to it. The first
byte of a stored value tells its form; neither an encoded message nor a text in UTF-8 can begin with a mark:

    0xff  compressed by itself
    0xfe  compressed with a dictionary, or with references in it; a header follows (`Packed`)
    else  the value as it is, as short values and those of early versions are
"""

import struct
import zlib
from dataclasses import dataclass

from sqlalchemy import Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator

MARK = b"\xff"
PACKED = b"\xfe"
_SMALLEST = 200  # bytes; shorter values hardly get smaller by themselves
_LEVEL = 6
# How far back deflate finds repetitions; more of a dictionary would not be used.
_WINDOW = 32_768 - 262
_HEADER = struct.Struct("<cBII")
_HAS_REFERENCES = 1


class CompressedBytes(TypeDecorator[bytes]):
    """Bytes, compressed by zlib in the database and plain in Python; values stored plain are read, too."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """The stored form of a value."""
        return None if value is None else compress(value)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """The value of its stored form."""
        return None if value is None else decompress(value)


def compress(value: bytes) -> bytes:
    """The stored form of a value that is compressed by itself."""
    if len(value) < _SMALLEST and value[:1] not in (MARK, PACKED):
        return value
    return MARK + zlib.compress(value, _LEVEL)


def decompress(stored: bytes) -> bytes:
    """The value of a stored form that needs no dictionary."""
    return zlib.decompress(stored[1:]) if stored[:1] == MARK else stored


@dataclass(frozen=True, slots=True)
class Packed:
    """A value that is compressed with a dictionary, or that has references in place of texts.

    Attributes:
        predecessor: Number of the event that is part of the dictionary; 0 for none.
        checksum: CRC-32 of the value with its texts; None where it has no references.
        data: The zlib stream.
    """

    predecessor: int
    checksum: int | None
    data: bytes

    def stored(self) -> bytes:
        """The stored form."""
        flags = 0 if self.checksum is None else _HAS_REFERENCES
        return _HEADER.pack(PACKED, flags, self.predecessor, self.checksum or 0) + self.data

    def value(self, dictionary: bytes = b"") -> bytes:
        """The value, with references where it has them.

        Raises:
            zlib.error: The dictionary is not that with which the value was compressed.
        """
        unpacking = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
        return unpacking.decompress(self.data) + unpacking.flush()


def pack(value: bytes, dictionary: bytes = b"", predecessor: int = 0, checksum: int | None = None) -> Packed:
    """Compress a value with a dictionary, which may be empty."""
    packing = zlib.compressobj(_LEVEL, zdict=dictionary) if dictionary else zlib.compressobj(_LEVEL)
    return Packed(predecessor, checksum, packing.compress(value) + packing.flush())


def packed(stored: bytes) -> Packed | None:
    """A stored form that begins with 0xfe; None for the others."""
    if stored[:1] != PACKED:
        return None
    _, flags, predecessor, checksum = _HEADER.unpack_from(stored)
    return Packed(predecessor, checksum if flags & _HAS_REFERENCES else None, stored[_HEADER.size :])


def dictionary_of(battle: bytes, predecessor: bytes = b"") -> bytes:
    """The dictionary of an event: what its battle is stored as, and an event that it continues.

    What does not fit into deflate's window is left out, first of the predecessor.
    """
    battle = battle[-_WINDOW:]
    return predecessor[max(0, len(predecessor) - (_WINDOW - len(battle))) :] + battle
