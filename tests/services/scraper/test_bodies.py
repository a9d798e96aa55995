"""Bodies: bounded decoding, charsets, kinds."""

import gzip
import tracemalloc
import zlib

import pytest

from services.scraper.charset import decode
from services.scraper.content_coding import BodyTooLarge, UndecodableBody, decoder_for
from services.scraper.media_type import MediaKind, kind_of

TEXT = b"owls see well at night " * 400


def raw_deflate(data: bytes) -> bytes:
    deflater = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return deflater.compress(data) + deflater.flush()


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("coding", "wire"),
    [
        ("", TEXT),
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT) + b"\0\0\0padding"),
        ("GZIP", gzip.compress(TEXT[:5000]) + gzip.compress(TEXT[5000:])),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
    ],
    ids=["plain", "identity", "gzip", "padded", "two members", "zlib", "raw deflate"],
)
def test_a_body_decodes_the_same_however_it_is_cut_into_pieces(coding: str, wire: bytes, step: int) -> None:
    decoder = decoder_for(coding, len(TEXT))
    for start in range(0, len(wire), step):
        decoder.feed(wire[start : start + step])
    decoder.finish()
    assert decoder.decoded == TEXT


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_bomb_is_stopped_at_the_limit_and_not_inflated_first(coding: str) -> None:
    bomb = zlib.compress(b"0" * 50_000_000, 9) if coding == "deflate" else gzip.compress(b"0" * 50_000_000)
    decoder = decoder_for(coding, 1000)
    tracemalloc.start()
    with pytest.raises(BodyTooLarge):
        decoder.feed(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000
    assert len(decoder.decoded) == 1000


def test_a_body_of_exactly_the_limit_passes() -> None:
    decoder = decoder_for("gzip", len(TEXT))
    decoder.feed(gzip.compress(TEXT))
    decoder.finish()
    plain = decoder_for("", 3)
    plain.feed(b"abc")
    with pytest.raises(BodyTooLarge):
        plain.feed(b"d")


def test_a_body_cut_short_or_in_another_coding_is_undecodable() -> None:
    short = decoder_for("gzip", 100_000)
    short.feed(gzip.compress(TEXT)[:-20])
    with pytest.raises(UndecodableBody):
        short.finish()
    with pytest.raises(UndecodableBody):
        decoder_for("gzip", 1000).feed(b"plain text, whatever the header says")
    with pytest.raises(UndecodableBody):
        decoder_for("br", 1000)


def test_thousands_of_empty_members_are_refused() -> None:
    with pytest.raises(UndecodableBody):
        decoder_for("gzip", 1000).feed(gzip.compress(b"") * 5000)


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        ("naïve".encode("latin-1"), "text/html; charset=ISO-8859-1", "naïve"),
        ("it’s 5 €".encode("cp1252"), "text/html; charset=latin1", "it’s 5 €"),
        ("日本語".encode("shift_jis"), 'text/html; charset="Shift_JIS"', "日本語"),
        ('<meta charset="gb2312">中文'.encode("gb18030"), "text/html", '<meta charset="gb2312">中文'),
        ("\ufeffabc".encode("utf-16-le"), "text/html; charset=utf-8", "abc"),
        ("\ufeffñ".encode(), "text/html; charset=latin-1", "ñ"),
        ("ñandú".encode(), "text/html", "ñandú"),
        ("ñandú".encode(), "text/html; charset=no-such-thing", "ñandú"),
        ("ñandú".encode(), "text/html; charset=zip", "ñandú"),
        (b"caf\xff", "text/plain; charset=utf-8", "caf\ufffd"),
        ("Öl für Århus".encode(), "text/html; charset=iso-8859-1", "Öl für Århus"),
    ],
)
def test_the_charset_is_taken_from_mark_header_markup_or_the_bytes(
    body: bytes, content_type: str, text: str
) -> None:
    assert decode(body, content_type) == text


def test_an_undeclared_legacy_encoding_is_guessed() -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20
    assert decode(text.encode("cp1251"), "text/html") == text


@pytest.mark.parametrize(
    ("content_type", "body", "kind"),
    [
        ("text/html; charset=utf-8", b"anything", MediaKind.HTML),
        ("application/xhtml+xml", b"<?xml version='1.0'?><html>", MediaKind.HTML),
        ("", b"\n<!DOCTYPE HTML><html>", MediaKind.HTML),
        ("application/octet-stream", b"<html><body>", MediaKind.HTML),
        ("application/pdf", b"%PDF-1.7\n", MediaKind.PDF),
        ("text/html", b"%PDF-1.4\n", MediaKind.PDF),
        ("text/plain", b"words", MediaKind.TEXT),
        ("text/markdown", b"# Words", MediaKind.TEXT),
        ("", b"just words", MediaKind.TEXT),
    ],
)
def test_readable_kinds_are_recognised(content_type: str, body: bytes, kind: MediaKind) -> None:
    assert kind_of(content_type, body) is kind


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n"),
        ("text/html", b"\x89PNG\r\n\x1a\n"),
        ("text/html", b"PK\x03\x04zip"),
        ("video/mp4", b"\0\0\0 ftypisom"),
        ("text/html", b"binary\0binary"),
        ("application/json", b"{}"),
        ("text/css", b"a {}"),
        ("application/pdf", b"<html>login</html>"),
    ],
)
def test_everything_else_is_named_instead(content_type: str, body: bytes) -> None:
    kind = kind_of(content_type, body)
    assert not isinstance(kind, MediaKind)
    assert kind
