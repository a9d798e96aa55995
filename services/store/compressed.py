"""Bytes that are stored compressed, by themselves or with a dictionary.

A dictionary is text that readers have, too: deflate replaces what it contains by references to it. The first
byte of a stored value tells its form; neither an encoded message nor a text in UTF-8 can begin with a mark:

    0xff  compressed by itself
    0xfe  compressed with a dictionary, or with references in it; a header follows (`Packed`)
    else  the value as it is, as short values are
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
_HEADER = struct.Struct("<cBI")
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
        checksum: CRC-32 of the value with its texts; None where it has no references.
        data: The zlib stream.
    """

    checksum: int | None
    data: bytes

    def stored(self) -> bytes:
        """The stored form."""
        flags = 0 if self.checksum is None else _HAS_REFERENCES
        return _HEADER.pack(PACKED, flags, self.checksum or 0) + self.data

    def value(self, dictionary: bytes = b"") -> bytes:
        """The value, with references where it has them.

        Raises:
            zlib.error: The dictionary is not that with which the value was compressed.
        """
        unpacking = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
        return unpacking.decompress(self.data) + unpacking.flush()


def pack(value: bytes, dictionary: bytes = b"", checksum: int | None = None) -> Packed:
    """Compress a value with a dictionary, which may be empty; deflate uses its last 32 kB."""
    packing = zlib.compressobj(_LEVEL, zdict=dictionary) if dictionary else zlib.compressobj(_LEVEL)
    return Packed(checksum, packing.compress(value) + packing.flush())


def packed(stored: bytes) -> Packed | None:
    """A stored form that begins with 0xfe; None for the others."""
    if stored[:1] != PACKED:
        return None
    _, flags, checksum = _HEADER.unpack_from(stored)
    return Packed(checksum if flags & _HAS_REFERENCES else None, stored[_HEADER.size :])
