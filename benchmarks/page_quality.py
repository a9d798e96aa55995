"""Quality classes of the scraper on labelled pages, as a confusion table.

python -m benchmarks.page_quality              pages that rules may be tuned on
python -m benchmarks.page_quality --held-out   pages that were kept apart
python -m benchmarks.page_quality --all        the table in benchmarks/README.md
"""

import argparse
import asyncio
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from benchmarks.labelled_pages import LabelledPage, labelled_pages
from services.scraper.canonical import canonicalize
from services.scraper.documents import read_document
from services.scraper.extraction import Extraction, ExtractionJob
from services.scraper.page_reader import ReadPage, read_page
from services.scraper.response import RawResponse

MIN_CHARS = 200  # the default of the scraper
RIGHT_TEXT = 0.9  # F1
WORDS = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\W\u3040-\u30ff\u3400-\u9fff]+")
URL = "https://pages.example/texts/42-owls"


class InProcess:
    """Extracts in this process, instead of in a pool of others."""

    async def extract(self, job: ExtractionJob) -> Extraction:
        return read_document(job)


def read(pages: list[LabelledPage]) -> list[ReadPage]:
    """What the scraper makes of pages."""
    pool: Any = InProcess()

    async def one(page: LabelledPage) -> ReadPage:
        url = canonicalize(URL)
        return await read_page(
            RawResponse(
                url=url,
                status=page.status,
                reason="",
                headers=(("Content-Type", page.content_type),),
                wire_body=page.body,
                body=page.body,
                received_at=datetime.now(UTC),
            ),
            url,
            pool,
            MIN_CHARS,
        )

    async def each() -> list[ReadPage]:
        return [await one(page) for page in pages]

    return asyncio.run(each())


def confusion(pages: list[LabelledPage], results: list[ReadPage]) -> Counter[tuple[str, str]]:
    """Number of pages by right class and given class."""
    return Counter(
        (page.label, given_class(page, result)) for page, result in zip(pages, results, strict=True)
    )


def given_class(page: LabelledPage, result: ReadPage) -> str:
    """The class that a page got; "ok, wrong text" where the text is not the labelled one."""
    given = result.verdict.quality.value
    garbled = (
        given == "ok" and page.text is not None and text_f1(result.extraction.text, page.text) < RIGHT_TEXT
    )
    return "ok, wrong text" if garbled else given


def text_f1(text: str, right: str) -> float:
    """F1 of the words of a text (Chinese and Japanese: of the characters) against the labelled text."""
    got, wanted = (Counter(WORDS.findall(each.lower())) for each in (text, right))
    common = (got & wanted).total()
    return 2 * common / max(1, got.total() + wanted.total())


def table(counts: Counter[tuple[str, str]]) -> list[str]:
    """The confusion table in Markdown: a row per right class, a column per given class."""
    labels = sorted({label for label, _ in counts})
    given = labels + sorted({name for _, name in counts} - set(labels))
    lines = ["| right class | pages | " + " | ".join(given) + " |", "|---" * (len(given) + 2) + "|"]
    for label in labels:
        row = [counts[label, name] for name in given]
        lines.append(f"| {label} | {sum(row)} | " + " | ".join(str(count or "") for count in row) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    pages = [page for page in labelled_pages() if options.all or page.held_out == options.held_out]
    results = read(pages)
    counts = confusion(pages, results)
    print("\n".join(table(counts)))
    right = sum(count for (label, name), count in counts.items() if label == name)
    print(f"\n{right} of {len(pages)} pages are right ({right / len(pages):.1%})")
    if options.held_out or options.all:
        return  # what goes wrong there is not looked at
    for page, result in zip(pages, results, strict=True):
        if (given := given_class(page, result)) != page.label:
            print(f"{page.name}: {given}, not {page.label}: {result.verdict.detail}")


if __name__ == "__main__":
    main()
