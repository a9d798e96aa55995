"""Extract the text of documents: HTML by trafilatura, PDF by PDFium, plain text without its wrapping.

This module runs in extraction processes only. With hostile input these parsers may loop, crash or exhaust
memory; the process boundary of `extractor` contains that, and nothing here defends against it.
"""

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import trafilatura
from lxml import etree  # type: ignore[import-untyped]
from trafilatura.utils import load_html

from services.scraper.charset import decode
from services.scraper.extraction import Extraction, ExtractionJob
from services.scraper.media_type import MediaKind
from services.scraper.pdf import read_pdf
from services.scraper.shell import is_shell
from services.scraper.wrapped_lines import joined_plain

_VISIBLE_CHARS = 4000
_TITLE_CHARS = 500
_INVISIBLE = frozenset({"script", "style", "template", "head", "svg"})
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_MARKDOWN_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)
# Types whose lines may have been broken to a width.
_PROSE = {"", "text/plain", "text/markdown", "text/x-markdown", "application/octet-stream"}


def read_document(job: ExtractionJob) -> Extraction:
    """The title, text and language of a document.

    Raises:
        ExtractionFailed: The document is damaged or protected by a password.
    """
    document = {MediaKind.HTML: _html, MediaKind.PDF: read_pdf, MediaKind.TEXT: _text}[job.kind](job)
    language = document.language or (job.content_language or "").partition(",")[0].strip()
    title = " ".join(_clean(document.title or "").split())[:_TITLE_CHARS]
    return Extraction(
        title=title or None,
        text=_clean(document.text).strip(),
        language=language if _LANGUAGE.fullmatch(language) else None,
        visible=_clean(document.visible),
        for_subscribers=document.for_subscribers,
        is_shell=document.is_shell,
    )


def _html(job: ExtractionJob) -> Extraction:
    tree = load_html(decode(job.body, job.content_type))
    if tree is None:
        return Extraction()
    visible = _visible(tree)
    facts = Extraction(
        title=tree.findtext(".//title"),
        language=tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang"),
        visible=visible,
        for_subscribers=any(_locked(data) for data in _linked_data(tree)),
        is_shell=is_shell(tree, visible),
    )
    document: Any = trafilatura.bare_extraction(
        tree, url=job.url, include_comments=False, include_tables=True, with_metadata=True
    )
    if document is None:
        return facts
    return replace(facts, title=document.title or facts.title, text=document.text or "")


def _visible(tree: Any) -> str:
    parts: list[str] = []
    length = 0
    for part in _texts(tree):
        parts.append(part)
        length += len(part)
        if length > _VISIBLE_CHARS:
            break
    return " ".join(" ".join(parts).split())[:_VISIBLE_CHARS]


def _texts(tree: Any) -> Iterator[str]:
    """All text outside scripts and the head, in document order and without recursion."""
    depth = 0  # of enclosing elements that are not visible
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        invisible = element.tag in _INVISIBLE
        if event == "start":
            depth += invisible
            if not depth and element.text:
                yield element.text
        else:
            depth -= invisible and event == "end"
            if not depth and element.tail:
                yield element.tail


def _linked_data(tree: Any) -> Iterator[Any]:
    for script in tree.iterfind(".//script[@type='application/ld+json']"):
        try:
            data = json.loads(script.text or "")
        except (ValueError, RecursionError):
            continue
        entries = data if isinstance(data, list) else [data]
        for entry in entries:
            if isinstance(entry, dict):
                graph = entry.get("@graph")
                yield from graph if isinstance(graph, list) else [entry]


def _locked(entry: Any) -> bool:
    """Whether schema.org metadata says that an article is for subscribers."""
    free = entry.get("isAccessibleForFree") if isinstance(entry, dict) else None
    return free is False or (isinstance(free, str) and free.lower() == "false")


def _text(job: ExtractionJob) -> Extraction:
    text = decode(job.body, job.content_type).replace("\r\n", "\n").replace("\r", "\n")
    heading = _MARKDOWN_TITLE.search(text[:2000])
    declared = (job.content_type or "").partition(";")[0].strip().lower()
    joined = joined_plain(text) if declared in _PROSE else text  # rows of data stay rows
    return Extraction(title=heading.group(1) if heading else None, text=joined)


def _clean(text: str) -> str:
    """The text in composed form, without characters that a database or a protobuf string rejects."""
    return unicodedata.normalize("NFC", _CONTROLS.sub("", text))
