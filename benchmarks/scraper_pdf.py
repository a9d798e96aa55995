"""The scraper's reader of PDFs beside pypdf: processor time per page, and damaged files read.

    python -m benchmarks.scraper_pdf

The file has 40 pages of text; it is read whole, and 60 times with 40 bytes changed. A damaged file
counts as read if a word of the article is in its text.
"""

import io
import json
import logging
import random
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.labelled_pages import labelled_pages
from benchmarks.pdf_file import text_pages
from benchmarks.peers import cache_folder

PAGES, ROUNDS, DAMAGED, CHANGED_BYTES, COLUMNS = 40, 5, 60, 40, 90


def document() -> bytes:
    """A PDF with text on every page."""
    article = next(page for page in labelled_pages() if page.name == "en article")
    pages = []
    for number in range(PAGES):
        text = f"{number} {article.text} ".replace("\n", " ").replace("(", "").replace(")", "") * 2
        pages.append([text[start : start + COLUMNS] for start in range(0, len(text), COLUMNS)])
    return text_pages(pages)


def with_pypdf(body):
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(body)).pages)


def with_pdfium(body):
    from services.scraper.extraction import ExtractionJob
    from services.scraper.media_type import MediaKind
    from services.scraper.pdf import read_pdf

    return read_pdf(ExtractionJob(MediaKind.PDF, "", None, None, body)).text


READERS = {"pypdf": with_pypdf, "ours (PDFium)": with_pdfium}


def measure(name: str, path: str) -> None:
    """Print one JSON line: milliseconds per page, words found, damaged files read."""
    logging.disable(logging.CRITICAL)
    body, extract = Path(path).read_bytes(), READERS[name]
    seconds, words = float("inf"), 0
    for _ in range(ROUNDS):
        begun = time.process_time()
        words = extract(body).count("compost")
        seconds = min(seconds, time.process_time() - begun)
    rng, read = random.Random(1), 0
    for _ in range(DAMAGED):
        damaged = bytearray(body)
        for _ in range(CHANGED_BYTES):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        try:
            read += "compost" in extract(bytes(damaged))
        except Exception:  # parsers fail in many ways
            continue
    print(json.dumps({"ms": seconds * 1000 / PAGES, "words": words, "read": read}))


def main() -> None:
    folder = cache_folder("scraper")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "text.pdf"
    path.write_bytes(document())
    print(f"| | ms per page | words found | damaged files read, of {DAMAGED} |\n|---|---|---|---|")
    for name in READERS:
        command = [sys.executable, "-m", "benchmarks.scraper_pdf", name, str(path)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"| {name} | {result['ms']:.2f} | {result['words']} | {result['read']} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*sys.argv[1:])
    else:
        main()
