"""pypdf, which the scraper uses, beside pypdfium2: processor time per page, and damaged files read.

    python -m benchmarks.scraper_pdf

The file has 40 pages of text; it is read whole, and 60 times with 40 bytes changed. pypdfium2 gets an
environment of its own.
"""

import io
import json
import logging
import random
import subprocess
import sys
import time
import zlib
from pathlib import Path

from benchmarks.labelled_pages import labelled_pages
from benchmarks.peers import cache_folder, environment

PAGES, ROUNDS, DAMAGED, CHANGED_BYTES, COLUMNS = 40, 5, 60, 40, 90
REQUIREMENTS = {"pypdf": (), "pypdfium2": ("pypdfium2==5.15.2",)}


def document() -> bytes:
    """A PDF with text on every page."""
    article = next(page for page in labelled_pages() if page.name == "en article")
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for number in range(PAGES):
        text = f"{number} {article.text} ".replace("\n", " ").replace("(", "").replace(")", "") * 2
        lines = [text[start : start + COLUMNS] for start in range(0, len(text), COLUMNS)]
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        content = zlib.compress(f"BT /F1 11 Tf 13 TL 40 800 Td {shown} ET".encode("latin-1"))
        objects.append(
            b"<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
        )
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), PAGES)
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for place, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (place, content)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(out)


def with_pypdf(body):
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(body)).pages)


def with_pypdfium2(body):
    from pypdfium2 import PdfDocument

    read = PdfDocument(body)
    texts = []
    for page in read:
        content = page.get_textpage()
        texts.append(content.get_text_range())
        content.close()
        page.close()
    read.close()
    return "\n".join(texts)


def measure(name: str, path: str) -> None:
    """Print one JSON line: milliseconds per page, words found, damaged files read."""
    logging.disable(logging.CRITICAL)
    body, extract = Path(path).read_bytes(), {"pypdf": with_pypdf, "pypdfium2": with_pypdfium2}[name]
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
    for name, requirements in REQUIREMENTS.items():
        python = environment(name, requirements, folder)
        command = [python, "-m", "benchmarks.scraper_pdf", name, str(path)]
        result = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(f"| {name} | {result['ms']:.2f} | {result['words']} | {result['read']} |")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(*sys.argv[1:])
    else:
        main()
