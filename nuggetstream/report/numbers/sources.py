"""The pages behind the answers: could they be read, and did they become evidence?"""

from collections import Counter
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.files.evaluated import SourceRow
from nuggetstream.report.rows import Results


@dataclass(frozen=True, slots=True)
class SystemSources:
    """One system's pages.

    Attributes:
        answers: of the system.
        without: answers that name no page.
        pages: named over all answers; a page named twice counts twice.
        used: pages with at least one chunk among the evidence.
        qualities: the scraper's class, or the state where there is none -> pages.
    """

    system: str
    answers: int
    without: int
    pages: int
    used: int
    qualities: dict[str, int]


def compute(results: Results) -> tuple[SystemSources, ...]:
    """Per system, in alphabetical order."""
    answers: dict[str, list[tuple[SourceRow, ...]]] = {}
    for row in results.rows:
        for side in Side:
            answers.setdefault(row.answer(side).system, []).append(row.answer(side).sources)
    return tuple(_system(name, answers[name]) for name in sorted(answers))


def _system(name: str, answers: list[tuple[SourceRow, ...]]) -> SystemSources:
    pages = [page for sources in answers for page in sources]
    return SystemSources(
        system=name,
        answers=len(answers),
        without=sum(not sources for sources in answers),
        pages=len(pages),
        used=sum(page.chunks > 0 for page in pages),
        qualities=dict(Counter(page.quality or page.state for page in pages).most_common()),
    )
