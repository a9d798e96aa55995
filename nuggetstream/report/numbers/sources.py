"""Sources: could the pages behind the answers be read?"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import SourceRow
from nuggetstream.files.results import Results


@dataclass(frozen=True, slots=True)
class SystemSources:
    """One system's pages.

    Attributes:
        system: Its name.
        answers: Its answers.
        without: Answers that name no page.
        pages: Pages named over all answers; a page named twice counts twice.
        used: Pages with at least one chunk in the evidence.
        partly_read: Those with a chunk of which the embedding model read only a part.
        qualities: The scraper's class, or the state where there is none -> pages.
    """

    system: str
    answers: int
    without: int
    pages: int
    used: int
    partly_read: int
    qualities: dict[str, int]


def compute_sources(results: Results) -> tuple[SystemSources, ...]:
    """Per system, in alphabetical order."""
    answers = grouped(
        (battle.answer(side).system, battle.answer(side).sources)
        for battle in results.battles
        for side in Side
    )
    return tuple(_sources(system, answers[system]) for system in sorted(answers))


def _sources(system: str, answers: Sequence[tuple[SourceRow, ...]]) -> SystemSources:
    pages = [page for sources in answers for page in sources]
    return SystemSources(
        system=system,
        answers=len(answers),
        without=sum(not sources for sources in answers),
        pages=len(pages),
        used=sum(page.chunks > 0 for page in pages),
        partly_read=sum(page.partly_read > 0 for page in pages),
        qualities=dict(Counter(page.quality or page.state for page in pages).most_common()),
    )
