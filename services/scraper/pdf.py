"""The text of PDFs, read by PDFium.

This module runs in extraction processes only: PDFium is a large parser of hostile files in C++, which may
crash, loop or exhaust memory. The build of pypdfium2 contains no engine for scripts or XFA forms.
"""

import ctypes

from pypdfium2 import PdfDocument, PdfiumError
from pypdfium2 import raw as pdfium

from services.scraper.extraction import Extraction, ExtractionFailed, ExtractionJob
from services.scraper.wrapped_lines import joined_print

MAX_PAGES = 1000
MAX_CHARS = 5_000_000  # pages can share content, so a small file can have any amount of text
_LANGUAGE_CHARS = 32


def read_pdf(job: ExtractionJob) -> Extraction:
    """The title, text and language of a PDF.

    Pages that are damaged are left out, and so are those after `MAX_PAGES` pages or `MAX_CHARS` characters.
    The lines of each paragraph are joined, and words that are hyphenated at the end of a line.

    Raises:
        ExtractionFailed: The file is damaged or protected by a password.
    """
    try:
        document = PdfDocument(job.body)  # opens files with an empty password, which only forbid printing
    except PdfiumError as error:
        raise ExtractionFailed(_why_closed(error)) from error
    with document:
        return Extraction(
            title=document.get_metadata_value("Title") or None,
            text=joined_print(_text(document)),
            language=_language(document),
        )


def _why_closed(error: PdfiumError) -> str:
    if error.err_code in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
        return "the PDF is protected by a password"
    return f"damaged PDF: {error}"


def _text(document: PdfDocument) -> str:
    count = min(len(document), MAX_PAGES)
    texts, length, failure = list[str](), 0, None
    for number in range(count):
        try:
            text = _page_text(document, number)
        except PdfiumError as error:
            failure = failure or error
            continue
        texts.append(text)
        length += len(text)
        if length >= MAX_CHARS:
            break
    if failure is not None and not any(text.strip() for text in texts):
        raise ExtractionFailed(f"damaged PDF: {failure}")
    return "\n\n".join(texts)[:MAX_CHARS]


def _page_text(document: PdfDocument, number: int) -> str:
    page = document[number]
    try:
        content = page.get_textpage()
        try:
            text = str(content.get_text_bounded())
        finally:
            content.close()
    finally:
        page.close()
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _language(document: PdfDocument) -> str | None:
    buffer = (ctypes.c_ushort * _LANGUAGE_CHARS)()
    size = pdfium.FPDFCatalog_GetLanguage(document, buffer, ctypes.sizeof(buffer))
    if not 2 < size <= ctypes.sizeof(buffer):  # bytes, with the two that end it
        return None
    return bytes(buffer)[: size - 2].decode("utf-16-le", "replace")
