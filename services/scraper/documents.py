"""Reading documents: HTML by trafilatura, PDF by pypdf, text as it is. Runs in extraction processes only.

Whatever these parsers do with hostile input (loop, crash, eat memory) happens behind the process
boundary of `extractor`; nothing here defends against it.
"""

import io
import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any

import trafilatura
from lxml import etree  # type: ignore[import-untyped]
from pypdf import PdfReader
from trafilatura.utils import load_html

from services.scraper.charset import decode
from services.scraper.extraction import Extraction, ExtractionFailed, ExtractionJob
from services.scraper.media_type import MediaKind

_VISIBLE_CHARS = 4000
_TITLE_CHARS = 500
_MAX_PDF_PAGES = 1000
_UNSEEN = frozenset({"script", "style", "template", "head", "svg"})
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_MARKDOWN_TITLE = re.compile(r"^#\s+(.+)$", re.MULTILINE)


def read_document(job: ExtractionJob) -> Extraction:
    """The title, text and language of a document.

    Raises:
        ExtractionFailed: when it is damaged or locked.
    """
    found = {MediaKind.HTML: _html, MediaKind.PDF: _pdf, MediaKind.TEXT: _text}[job.kind](job)
    language = found.language or job.content_language.partition(",")[0].strip()
    return Extraction(
        title=" ".join(_clean(found.title).split())[:_TITLE_CHARS],
        text=_clean(found.text).strip(),
        language=language if _LANGUAGE.fullmatch(language) else "",
        visible=_clean(found.visible),
        for_subscribers=found.for_subscribers,
    )


def _html(job: ExtractionJob) -> Extraction:
    tree = load_html(decode(job.body, job.content_type))
    if tree is None:
        return Extraction()
    facts = Extraction(
        title=tree.findtext(".//title") or "",
        language=tree.get("lang") or tree.get("{http://www.w3.org/XML/1998/namespace}lang") or "",
        visible=_visible(tree),
        for_subscribers=any(_locked(data) for data in _linked_data(tree)),
    )
    document: Any = trafilatura.bare_extraction(
        tree, url=job.url, include_comments=False, include_tables=True, with_metadata=True
    )
    if document is None:
        return facts
    return Extraction(
        title=document.title or facts.title,
        text=document.text or "",
        language=facts.language,
        visible=facts.visible,
        for_subscribers=facts.for_subscribers,
    )


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
    hidden = 0
    for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
        unseen = element.tag in _UNSEEN
        if event == "start":
            hidden += unseen
            if not hidden and element.text:
                yield element.text
        else:
            hidden -= unseen and event == "end"
            if not hidden and element.tail:
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


def _pdf(job: ExtractionJob) -> Extraction:
    try:
        reader = _unlocked(PdfReader(io.BytesIO(job.body)))
        pages = [page.extract_text() for page in reader.pages[:_MAX_PDF_PAGES]]
        title = reader.metadata.title if reader.metadata else None
        language = reader.root_object.get("/Lang")
    except (MemoryError, ExtractionFailed):
        raise
    except Exception as error:  # pypdf fails on damaged files in many ways
        raise ExtractionFailed(f"damaged PDF: {type(error).__name__}: {error}") from error
    return Extraction(title=str(title or ""), text="\n\n".join(pages), language=str(language or ""))


def _unlocked(reader: PdfReader) -> PdfReader:
    # Many PDFs are encrypted with an empty password, only to forbid printing.
    if reader.is_encrypted and not reader.decrypt(""):
        raise ExtractionFailed("the PDF is locked with a password")
    return reader


def _text(job: ExtractionJob) -> Extraction:
    text = decode(job.body, job.content_type).replace("\r\n", "\n").replace("\r", "\n")
    heading = _MARKDOWN_TITLE.search(text[:2000])
    return Extraction(title=heading.group(1) if heading else "", text=text)


def _clean(text: str) -> str:
    """Composed characters, and none that a database or a protobuf string would refuse."""
    return unicodedata.normalize("NFC", _CONTROLS.sub("", text))
