"""PDFs in the extraction process: damaged, encrypted, huge, scanned."""

import io
from collections.abc import AsyncIterator

import psutil
import pytest
from pypdf import PdfReader, PdfWriter

from benchmarks.pdf_file import pdf_file, scanned_page, stream, text_pages
from services.scraper.extraction import Extraction, ExtractionFailed, ExtractionJob
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.media_type import MediaKind
from services.scraper.settings import ScraperSettings

PAGES = [[f"Page {number}: owls hunt mice", "under the snow at night."] for number in range(5)]


@pytest.fixture
async def pool() -> AsyncIterator[ExtractionPool]:
    settings = ScraperSettings(
        extraction_memory_bytes=400 * 1024 * 1024, extraction_workers=1, extraction_seconds=5.0
    )
    async with ExtractionPool(settings) as pool:
        yield pool


async def read(pool: ExtractionPool, body: bytes) -> Extraction:
    return await pool.extract(ExtractionJob(MediaKind.PDF, "http://a.example/", None, None, body))


async def text_or_reason(pool: ExtractionPool, body: bytes) -> str:
    try:
        return (await read(pool, body)).text
    except ExtractionFailed as failure:
        return str(failure)


def encrypted(user_password: str) -> bytes:
    writer, out = PdfWriter(), io.BytesIO()
    writer.append(PdfReader(io.BytesIO(text_pages(PAGES))))
    writer.encrypt(user_password, "owner", algorithm="RC4-128")
    writer.write(out)
    return out.getvalue()


async def test_pages_are_read_in_order_with_title_and_language(pool: ExtractionPool) -> None:
    document = await read(pool, text_pages(PAGES, catalog=b"/Lang (en-GB)", title="Owls"))
    assert (document.title, document.language) == ("Owls", "en-GB")
    assert document.text.split("\n\n") == ["\n".join(lines) for lines in PAGES]


async def test_a_word_that_is_hyphenated_at_the_end_of_a_line_is_joined(pool: ExtractionPool) -> None:
    document = await read(pool, text_pages([["The owl is a noctur-", "nal bird."]]))
    assert document.text == "The owl is a nocturnal bird."


async def test_the_lines_of_a_paragraph_are_one_text_and_headings_stay_apart(pool: ExtractionPool) -> None:
    lines = [
        "Owls",
        "The owl is a nocturnal bird of prey that hunts",
        "mice under the snow. It hears them from thirty",
        "metres away, because its ears are at dif-",
        "ferent heights.",
        "Sources",
    ]
    document = await read(pool, text_pages([lines]))
    assert document.text.split("\n") == [
        "Owls",
        "The owl is a nocturnal bird of prey that hunts mice under the snow. It hears them from thirty "
        "metres away, because its ears are at different heights.",
        "Sources",
    ]


async def test_characters_beyond_the_basic_plane_are_kept(pool: ExtractionPool) -> None:
    mapping = b"1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <41> <d83ddc26> endbfchar"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        stream(b"BT /F1 11 Tf 40 800 Td (A) Tj ET"),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>",
        stream(b"begincmap " + mapping + b" endcmap"),
    ]
    assert (await read(pool, pdf_file(objects))).text == "\N{BIRD}"


async def test_a_file_with_a_wrong_table_of_objects_is_read(pool: ExtractionPool) -> None:
    whole = text_pages(PAGES)
    cut_off = whole[: whole.index(b"startxref")]
    for broken in (cut_off, whole.replace(b"xref\n0", b"xref\n9", 1), whole[:9] + whole):
        assert "Page 4" in (await read(pool, broken)).text


async def test_a_damaged_page_is_left_out_and_the_others_are_read(pool: ExtractionPool) -> None:
    body = text_pages(PAGES).replace(b"/Kids [5 0 R 7 0 R", b"/Kids [5 0 R 2 0 R")
    document = await read(pool, body)
    assert [f"Page {number}" in document.text for number in range(5)] == [True, False, True, True, True]


@pytest.mark.parametrize("body", [b"%PDF-1.7\n", b"%PDF-1.4\n" + b"owls " * 1000, text_pages(PAGES)[:200]])
async def test_what_is_no_pdf_inside_is_damaged(pool: ExtractionPool, body: bytes) -> None:
    with pytest.raises(ExtractionFailed, match="damaged PDF"):
        await read(pool, body)


async def test_an_empty_password_is_tried_and_no_other(pool: ExtractionPool) -> None:
    assert "Page 4" in (await read(pool, encrypted(""))).text
    with pytest.raises(ExtractionFailed, match="protected by a password"):
        await read(pool, encrypted("secret"))


async def test_a_scan_has_no_text(pool: ExtractionPool) -> None:
    assert (await read(pool, scanned_page(bytes(64)))).text == ""


async def test_pages_that_share_content_end_at_a_number_of_characters(pool: ExtractionPool) -> None:
    lines = " ".join(["(Owls hunt mice under the snow at night.) Tj T*"] * 2000)
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 90000] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count 1000 >>" % (b"3 0 R " * 1000),
        page,
        stream(f"BT /F1 11 Tf 13 TL 40 80000 Td {lines} ET".encode()),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    text = await text_or_reason(pool, pdf_file(objects))
    assert len(text) <= 5_000_000 or text.startswith("not read within")  # on a slow machine
    assert (await read(pool, text_pages(PAGES))).text.startswith("Page 0")


async def test_a_bomb_costs_its_process_and_no_more(pool: ExtractionPool) -> None:
    (first,) = pool.process_ids
    shown = b"(" + b"x" * 300_000_000 + b") Tj"
    body = pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
            b"/Resources << /Font << /F1 5 0 R >> >> >>",
            stream(b"BT /F1 11 Tf 40 800 Td " + shown + b" ET"),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )
    assert len(body) < 1_000_000
    text = await text_or_reason(pool, body)
    assert len(text) <= 5_000_000
    assert psutil.pid_exists(first) == text.startswith("x"), text[:100]
    assert (await read(pool, text_pages(PAGES))).text.startswith("Page 0")
