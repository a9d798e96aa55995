"""Decode Content-Encoding piece by piece, with a limit on the output. Pure.

A few kilobytes can inflate to gigabytes, so the output is limited at each step and not afterwards.
"""

import zlib

ACCEPTED = "gzip, deflate"
_GZIP_WINDOW = 16 + zlib.MAX_WBITS
_MAX_MEMBERS = 64  # servers normally send one; thousands of empty members would only cost time


class BodyTooLarge(Exception):
    """The body is larger than the limit. The decoder has what was decoded so far."""


class UndecodableBody(Exception):
    """The body is not in the coding that its header names, is incomplete, or the coding is unknown."""


def decoder_for(content_encoding: str, limit: int) -> "PlainBody":
    """The decoder for a Content-Encoding header.

    Args:
        content_encoding: Value of the header; "" when absent.
        limit: Maximum number of decoded bytes.

    Raises:
        UndecodableBody: The coding was not offered in Accept-Encoding.
    """
    coding = content_encoding.strip().lower()
    if coding in ("", "identity"):
        return PlainBody(limit)
    if coding in ("gzip", "x-gzip", "deflate"):
        return InflatedBody(limit, gzip=coding != "deflate")
    raise UndecodableBody(f"content coding {coding!r} was not requested")


class PlainBody:
    """A body without content coding, decoded piece by piece."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._out = bytearray()

    @property
    def decoded(self) -> bytes:
        """The decoded body so far, at most the limit."""
        return bytes(self._out)

    def feed(self, piece: bytes) -> None:
        """Decode one more piece.

        Raises:
            BodyTooLarge: The limit is exceeded.
            UndecodableBody: The piece is not in this coding.
        """
        room = self._room
        self._out += piece[:room]
        if len(piece) > room:
            raise BodyTooLarge(f"more than {self._limit} bytes")

    def finish(self) -> None:
        """Check that the body is complete, which HTTP framing has done where there is no coding.

        Raises:
            UndecodableBody: The body is incomplete.
        """

    @property
    def _room(self) -> int:
        return self._limit - len(self._out)


class InflatedBody(PlainBody):
    """A gzip body (of one or several members) or a deflate body, with or without the zlib header."""

    def __init__(self, limit: int, *, gzip: bool) -> None:
        super().__init__(limit)
        self._gzip = gzip
        self._members = 0
        self._rest = b""  # a single byte at the end of a piece: a member is recognised by its first two
        self._inflater: zlib._Decompress | None = None

    def feed(self, piece: bytes) -> None:
        """Inflate one more piece, which may contain the end of one gzip member and the next one."""
        piece, self._rest = self._rest + piece, b""
        while piece:
            inflater = self._inflater
            if inflater is None:
                if len(piece) < 2:
                    self._rest = piece
                    return
                inflater = self._next_member(piece)
                if inflater is None:
                    return  # padding after the last member is common and harmless
            self._inflate(inflater, piece)
            self._inflater = None if inflater.eof else inflater
            piece = inflater.unused_data

    def finish(self) -> None:
        """Check that the last member ended. An empty body is complete."""
        if self._inflater is not None or (self._rest and not self._members):
            raise UndecodableBody("the compressed body is incomplete")

    def _inflate(self, inflater: "zlib._Decompress", piece: bytes) -> None:
        try:
            out = inflater.decompress(piece, self._room + 1)
        except zlib.error as error:
            raise UndecodableBody(f"not in the coding that its header names: {error}") from error
        super().feed(out)

    def _next_member(self, piece: bytes) -> "zlib._Decompress | None":
        first = self._members == 0
        if not first and not (self._gzip and piece.startswith(b"\x1f\x8b")):
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise UndecodableBody(f"more than {_MAX_MEMBERS} gzip members")
        if self._gzip:
            return zlib.decompressobj(_GZIP_WINDOW)
        # RFC 1950: the zlib header is two bytes that name method 8 and are a multiple of 31.
        has_header = piece[0] & 0x0F == 8 and int.from_bytes(piece[:2]) % 31 == 0
        return zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS)
