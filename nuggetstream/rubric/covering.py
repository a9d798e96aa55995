"""Cover@k of every system of a graded file."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many
from nuggetstream.rubric.cover import CoverScore, cover_at, cover_overall
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.grading import first_ranks

_NAMED = 4


@dataclass(frozen=True, slots=True)
class SystemCover:
    """One system.

    Attributes:
        system: its name.
        score: its cover and n-EXAM with standard errors.
        ranked: queries with a graded item for which it ranked a passage; the others count as nothing covered.
    """

    system: str
    score: CoverScore
    ranked: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """All systems, the best first.

    Attributes:
        graded: what it rests on.
        k: depth of the top.
        minimum: grade from which an item counts as answered.
        overall: all passages together: the most any ranking of them could reach.
        left_out: queries without a single graded item.
        starts: system -> the first rank it recorded, where it is neither 0 nor 1.
    """

    graded: Graded
    k: int
    minimum: int
    overall: CoverScore
    systems: tuple[SystemCover, ...]
    left_out: int
    starts: Mapping[str, int]

    @property
    def notes(self) -> tuple[Note, ...]:
        """What changes how the numbers are read."""
        return tuple(_notes(self))


def cover(graded: Graded, k: int, minimum: int) -> Coverage:
    """Cover@k and n-EXAM of every system, with standard errors.

    Args:
        graded: passages of all queries.
        k: depth of the top, at least 1.
        minimum: grade from which an item counts as answered, 1..5.

    Raises:
        NothingToCover: no item was graded at all.
    """
    passages = graded.passages
    gradable = {passage.query for passage in passages if passage.grades}
    ranked: dict[str, set[str]] = defaultdict(set)
    for passage in passages:
        for system in passage.ranks if passage.query in gradable else ():
            ranked[system].add(passage.query)
    scores = cover_at(passages, k, minimum)
    order = sorted(scores, key=lambda system: (-scores[system].cover, system))
    return Coverage(
        graded=graded,
        k=k,
        minimum=minimum,
        overall=cover_overall(passages, minimum),
        systems=tuple(SystemCover(system, scores[system], len(ranked[system])) for system in order),
        left_out=graded.basis.queries - len(gradable),
        starts={system: rank for system, rank in first_ranks(passages).items() if rank > 1},
    )


def _notes(found: Coverage) -> Iterator[Note]:
    basis, overall = found.graded.basis, found.overall
    if not found.systems:
        yield Note("no_ranking", "no system ranked a passage: there is only the cover of all of them")
    if basis.ungraded:
        yield Note(
            "ungraded",
            f"{many(basis.ungraded, 'passage')} without a grade; in a system's top such a passage answers "
            "nothing, so cover may be too low",
        )
    if found.left_out:
        left_out = many(found.left_out, "query", "queries")
        yield Note("nothing_graded", f"{left_out} without a graded item, left out for every system")
    if unanswered := overall.queries - overall.answerable:
        yield Note(
            "unanswered",
            f"{many(unanswered, 'query', 'queries')} in which no passage answers an item with grade "
            f"{found.minimum} or better: left out of n-EXAM",
        )
    if overall.queries == 1:
        yield Note("one_query", "one query: a standard error has no answer")
    if lacking := sum(each.ranked < overall.queries for each in found.systems):
        systems = many(lacking, "system")
        yield Note("queries_missing", f"{systems} without a passage for some queries, which count 0")
    if found.starts:
        shown = ", ".join(f"{name} ({rank})" for name, rank in list(found.starts.items())[:_NAMED])
        yield Note(
            "starts_late",
            f"{many(len(found.starts), 'system')} whose first graded passage is not at rank 0 or 1: the top "
            f"{found.k} is counted from there: {shown}",
        )
