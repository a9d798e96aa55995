"""Decode the bytes of a page: which character encoding is it in?

Tried in this order: byte order mark, HTTP header, `<meta>` in the first kilobytes, valid UTF-8, a statistical
guess. A label means what browsers take it to mean (latin-1 is windows-1252, gb2312 is gb18030), because
servers use it in that sense. A label that is wrong is ignored: one that calls valid UTF-8 a single-byte
encoding, or under which many bytes are invalid.
"""

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_AS_IN_BROWSERS = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
_CHARSET = re.compile(r"""charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_META = re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)""", re.IGNORECASE)
_SINGLE_BYTE = frozenset(
    {"cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1257", "iso8859-2", "iso8859-15"}
)
_FEW_INVALID = 4
_MAX_INVALID = 0.2  # share of the characters outside ASCII
_HEAD_BYTES = 4096
_SAMPLE_BYTES = 64 * 1024


def decode(body: bytes, content_type: str | None) -> str:
    """A body as text; bytes that are invalid in its encoding become U+FFFD.

    Args:
        body: HTTP body without content coding.
        content_type: Content-Type header; None when absent.

    >>> decode("café".encode("latin-1"), "text/html; charset=ISO-8859-1")
    'café'
    """
    return body.decode(encoding_of(body, content_type), "replace")


def encoding_of(body: bytes, content_type: str | None) -> str:
    """The name of the Python codec for a body."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return codec
    declared = _from_header(content_type) or _from_markup(body)
    return declared if declared is not None and _fits(declared, body) else _guess(body)


def _fits(codec: str, body: bytes) -> bool:
    sample = body[:_SAMPLE_BYTES]
    if sample.isascii():
        return True
    if codec in _SINGLE_BYTE:
        return not _is_utf8(sample)
    text = sample.decode(codec, "replace")
    # A few invalid bytes are slips in an otherwise right page.
    most = max(_FEW_INVALID, _MAX_INVALID * sum(not character.isascii() for character in text))
    return text.count("\ufffd") <= most


def _is_utf8(sample: bytes) -> bool:
    try:
        # The sample may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=len(sample) < _SAMPLE_BYTES)
    except UnicodeDecodeError:
        return False
    return True


def _from_header(content_type: str | None) -> str | None:
    named = _CHARSET.search(content_type or "")
    return _codec(named.group(1)) if named else None


def _from_markup(body: bytes) -> str | None:
    head = body[:_HEAD_BYTES]
    named = _META.search(head) or _XML.search(head)
    codec = _codec(named.group(1).decode("ascii", "replace")) if named else None
    # A page that names UTF-16 in ASCII bytes is not UTF-16.
    return "utf-8" if codec is not None and codec.startswith("utf-16") else codec


def _guess(body: bytes) -> str:
    if _is_utf8(body):
        return "utf-8"
    import charset_normalizer

    best = charset_normalizer.from_bytes(body[:_SAMPLE_BYTES]).best()
    return best.encoding if best is not None else "cp1252"


def _codec(label: str) -> str | None:
    try:
        codec = codecs.lookup(label.strip())
    except (LookupError, ValueError):
        return None
    # Python's registry also contains transformations (zip, hex, rot13), which are not encodings.
    if not getattr(codec, "_is_text_encoding", True) or codec.name in ("idna", "punycode", "unicode_escape"):
        return None
    return _AS_IN_BROWSERS.get(codec.name, codec.name)
