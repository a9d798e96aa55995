"""A column of bytes that is stored compressed."""

import zlib

from sqlalchemy import Dialect, LargeBinary
from sqlalchemy.types import TypeDecorator

# The first byte of compressed values. Neither an encoded message nor a text in UTF-8 can begin with it, so
# values that earlier versions stored are told apart.
MARK = b"\xff"
_SMALLEST = 200  # bytes; shorter values hardly get smaller
_LEVEL = 6


class CompressedBytes(TypeDecorator[bytes]):
    """Bytes, compressed by zlib in the database and plain in Python; values stored plain are read, too."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """The stored form of a value."""
        if value is None or (len(value) < _SMALLEST and not value.startswith(MARK)):
            return value
        return MARK + zlib.compress(value, _LEVEL)

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """The value of its stored form."""
        if value is None or value[:1] != MARK:
            return value
        return zlib.decompress(value[1:])
