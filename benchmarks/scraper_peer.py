"""Time one way to extract the text of pages; runs in an environment of its own.

    python scraper_peer.py NAME PAGES.json RESULT.json

PAGES.json is a list of HTML documents. RESULT.json gets the processor seconds for all of them, the best of
some rounds, and the texts. "ours" and "trafilatura" run in turn in one process, so that their ratio means
something on a machine that does other things, too.
"""

import json
import sys
import time
from pathlib import Path

ROUNDS = 7
NOT_CONTENT = "script, style, noscript, nav, header, footer, aside"


def ours():
    from services.scraper.documents import read_document
    from services.scraper.extraction import ExtractionJob
    from services.scraper.media_type import MediaKind

    def extract(page):
        job = ExtractionJob(MediaKind.HTML, "https://pages.example/", "text/html", None, page.encode())
        return read_document(job).text

    return extract


def trafilatura():
    from trafilatura import bare_extraction

    def extract(page):
        document = bare_extraction(
            page,
            url="https://pages.example/",
            include_comments=False,
            include_tables=True,
            with_metadata=True,
        )
        return "" if document is None else document.text or ""

    return extract


def selectolax():
    from selectolax.lexbor import LexborHTMLParser

    def extract(page):
        tree = LexborHTMLParser(page)
        for node in tree.css(NOT_CONTENT):
            node.decompose()
        return "" if tree.body is None else tree.body.text(separator="\n", strip=True)

    return extract


def resiliparse():
    from resiliparse.extract.html2text import extract_plain_text

    return lambda page: extract_plain_text(page, main_content=True)


EXTRACTORS = {"ours": ours, "trafilatura": trafilatura, "selectolax": selectolax, "resiliparse": resiliparse}


def main(names, pages_path, result_path):
    pages = json.loads(Path(pages_path).read_text(encoding="utf-8"))
    extractors = {name: EXTRACTORS[name]() for name in names.split(",")}
    results = {name: {"seconds": float("inf")} for name in extractors}
    for _ in range(ROUNDS):
        for name, extract in extractors.items():
            begun = time.process_time()
            texts = [extract(page) for page in pages]
            seconds = time.process_time() - begun
            results[name] = {"seconds": min(seconds, results[name]["seconds"]), "texts": texts}
    Path(result_path).write_text(json.dumps(results), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
