"""Undoing Content-Encoding piece by piece, never producing more than was asked for.

Pure. A few kilobytes can inflate to gigabytes, so output is bounded at each step and not afterwards.
"""

import zlib
from typing import Protocol

ACCEPTED = "gzip, deflate"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_MAX_MEMBERS = 64  # honest servers send one; thousands of empty ones would only burn time


class BodyTooLarge(Exception):
    """The body grows beyond the limit; what was decoded so far is kept in the decoder."""


class UndecodableBody(Exception):
    """The body is not in the coding its header names, is cut short, or the coding is unknown."""


class BodyDecoder(Protocol):
    """Takes a body in pieces and accumulates it decoded."""

    @property
    def decoded(self) -> bytes:
        """What has been decoded so far, at most the limit."""
        ...

    def feed(self, piece: bytes) -> None:
        """Decode one more piece.

        Raises:
            BodyTooLarge: the limit is exceeded.
            UndecodableBody: the piece is not in this coding.
        """
        ...

    def finish(self) -> None:
        """Check that the body is complete.

        Raises:
            UndecodableBody: it is not.
        """
        ...


def decoder_for(content_encoding: str, limit: int) -> BodyDecoder:
    """The decoder for a Content-Encoding header.

    Args:
        content_encoding: the header's value, "" when absent.
        limit: the most decoded bytes.

    Raises:
        UndecodableBody: for codings that were not offered in Accept-Encoding.
    """
    coding = content_encoding.strip().lower()
    if coding in ("", "identity"):
        return PlainBody(limit)
    if coding in ("gzip", "x-gzip", "deflate"):
        return InflatedBody(limit, gzip=coding != "deflate")
    raise UndecodableBody(f"content coding {coding!r} was not asked for")


class PlainBody:
    """No coding: counts and keeps."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._out = bytearray()

    @property
    def decoded(self) -> bytes:
        """The body so far."""
        return bytes(self._out)

    def feed(self, piece: bytes) -> None:
        """Keep one more piece."""
        room = self._limit - len(self._out)
        self._out += piece[:room]
        if len(piece) > room:
            raise BodyTooLarge(f"more than {self._limit} bytes")

    def finish(self) -> None:
        """Nothing to check: HTTP framing already tells whether the body is whole."""


class InflatedBody:
    """gzip (several members too) and deflate, in zlib's wrapping or raw as some servers send it."""

    def __init__(self, limit: int, *, gzip: bool) -> None:
        self._limit = limit
        self._gzip = gzip
        self._out = bytearray()
        self._members = 0
        self._held = b""  # a member is recognised by its first two bytes, which may come separately
        self._inflater: zlib._Decompress | None = None

    @property
    def decoded(self) -> bytes:
        """The body so far."""
        return bytes(self._out)

    def feed(self, piece: bytes) -> None:
        """Inflate one more piece, through the end of one gzip member into the next."""
        piece, self._held = self._held + piece, b""
        while piece:
            inflater = self._inflater
            if inflater is None:
                if len(piece) < 2:
                    self._held = piece
                    return
                inflater = self._next_member(piece)
                if inflater is None:
                    return  # padding after the last member is common and harmless
            self._inflate(inflater, piece)
            self._inflater = None if inflater.eof else inflater
            piece = inflater.unused_data

    def finish(self) -> None:
        """Check that the last member ended. An empty body is complete."""
        if self._inflater is not None or (self._held and not self._members):
            raise UndecodableBody("the compressed body ends too early")

    def _inflate(self, inflater: "zlib._Decompress", piece: bytes) -> None:
        room = self._limit - len(self._out)
        try:
            out = inflater.decompress(piece, room + 1)
        except zlib.error as error:
            raise UndecodableBody(f"not in the coding it claims: {error}") from error
        self._out += out[:room]
        if len(out) > room:
            raise BodyTooLarge(f"inflates to more than {self._limit} bytes")

    def _next_member(self, piece: bytes) -> "zlib._Decompress | None":
        first = self._members == 0
        if not first and not (self._gzip and piece.startswith(b"\x1f\x8b")):
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise UndecodableBody(f"more than {_MAX_MEMBERS} gzip members")
        if self._gzip:
            return zlib.decompressobj(_GZIP_WINDOW)
        # RFC 1950: the first two bytes of zlib's wrapping name method 8 and are a multiple of 31.
        wrapped = piece[0] & 0x0F == 8 and int.from_bytes(piece[:2]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if wrapped else -zlib.MAX_WBITS)
