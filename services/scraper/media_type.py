"""The kind of a document: HTML, PDF, plain text, or something that cannot be read. Pure.

The bytes count more than the header: a PNG sent as text/html is an image.
"""

import re
from enum import StrEnum


class MediaKind(StrEnum):
    """The kinds of documents whose text can be extracted."""

    HTML = "html"
    PDF = "pdf"
    TEXT = "text"


_FOREIGN_MAGIC = {
    b"\x89PNG\r\n": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"RIFF": "a RIFF media file",
    b"PK\x03\x04": "a ZIP archive",
    b"PK\x05\x06": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"BZh": "a bzip2 archive",
    b"\xfd7zXZ": "an xz archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"ID3": "an audio file",
    b"OggS": "a media file",
    b"\x1aE\xdf\xa3": "a video",
    b"\xd0\xcf\x11\xe0": "an old Office document",
    b"%!PS": "a PostScript file",
    b"wOF2": "a font",
}
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_PDF_TYPES = frozenset({"application/pdf", "application/x-pdf"})
_UNREADABLE_TEXT = frozenset({"text/css", "text/javascript", "text/calendar", "text/vcard", "text/xml"})
_UNDECLARED = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download"})
_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<meta", b"<h1", b"<div", b"<p>")
_SNIFFED = 1024
_FEED = re.compile(
    rb"\s*(?:<\?xml[^>]*>|<\?xml-stylesheet[^>]*>|<!--.{0,500}?-->|\s)*<(?:rss|feed|rdf:RDF)[\s>]", re.DOTALL
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def kind_of(content_type: str | None, body: bytes) -> MediaKind | str:
    """The kind of a document, or a phrase that says what it is instead.

    Args:
        content_type: Content-Type header; None when absent.
        body: HTTP body without content coding; only its beginning is used.

    >>> kind_of("text/html; charset=utf-8", b"<p>hi</p>")
    <MediaKind.HTML: 'html'>
    >>> kind_of("text/html", bytes([0x89]) + b"PNG" + bytes([13, 10, 26, 10]))
    'a PNG image'
    """
    declared = content_type or ""
    head = body[:_SNIFFED]
    if b"%PDF-" in head:
        return MediaKind.PDF
    foreign = next((name for magic, name in _FOREIGN_MAGIC.items() if head.startswith(magic)), None)
    if foreign is not None:
        return foreign
    if _FEED.match(head.removeprefix(b"\xef\xbb\xbf")):
        return "a feed"
    if head[4:8] == b"ftyp":
        return "a video"
    if b"\x00" in head and not head.startswith(_UTF16_MARKS) and "utf-16" not in declared.lower():
        return f"binary data sent as {declared or 'no type'}"
    return _by_declaration(declared.partition(";")[0].strip().lower(), head)


def _by_declaration(declared: str, head: bytes) -> MediaKind | str:
    if declared in _PDF_TYPES:
        return "damaged PDF: it does not begin like one"
    looks_like_html = _looks_like_html(head)
    if declared in _HTML_TYPES or (
        looks_like_html and declared in _UNDECLARED | {"text/xml", "application/xml"}
    ):
        return MediaKind.HTML
    if declared in _UNDECLARED:
        return MediaKind.TEXT
    if declared.startswith("text/") and declared not in _UNREADABLE_TEXT:
        return MediaKind.TEXT
    return declared


def _looks_like_html(head: bytes) -> bool:
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<?xml", b"<!--")):
        return b"<html" in start
    return start.startswith(_HTML_STARTS)
