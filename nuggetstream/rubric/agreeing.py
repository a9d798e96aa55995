"""Grades against the labels of assessors, passage by passage."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nuggetstream.domain.graded_passage import MAXIMUM_GRADE, MINIMUM_GRADE
from nuggetstream.domain.note import Note
from nuggetstream.files.cells import many
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.scorings import read_labels
from nuggetstream.rubric.verification import HIGH_GRADE, RELEVANT
from nuggetstream.statistics.inter_annotator import InterAnnotatorTable, LabelGroup, group, inter_annotator

_NAMED = 6
Key = tuple[str, str]


class NobodyElse(ValueError):
    """No passage has both a grade and a label."""


class NoGroups(ValueError):
    """Groups of labels that are none, such as one label in two of them."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which labels count as one.

    Attributes:
        grades: groups of grades, the best first; empty: from `minimum` on, and below it.
        labels: groups of labels, the best first; empty: from `relevant` on, and below it.
        minimum: grade from which a passage is taken as relevant.
        relevant: lowest label that means relevant.
        each: every grade against every label instead, without kappa.
    """

    grades: tuple[LabelGroup, ...] = ()
    labels: tuple[LabelGroup, ...] = ()
    minimum: int = HIGH_GRADE
    relevant: int = RELEVANT
    each: bool = False


@dataclass(frozen=True, slots=True)
class Agreed:
    """How grades and labels meet.

    Attributes:
        table: the best grade of each passage against its label.
        labels_of: where the labels are from.
        pairs: passages with both.
        only_graded: graded passages nobody labelled.
        only_labelled: labelled passages without a grade, in queries that have one.
        queries_graded: graded queries without a label.
        queries_labelled: labelled queries without a grade.
    """

    graded: Graded
    table: InterAnnotatorTable
    labels_of: str
    pairs: int
    only_graded: int
    only_labelled: int
    queries_graded: tuple[str, ...]
    queries_labelled: tuple[str, ...]
    each: bool

    @property
    def notes(self) -> tuple[Note, ...]:
        """What changes how the numbers are read."""
        return tuple(_notes(self))


def groups_of(text: str) -> tuple[LabelGroup, ...]:
    """Groups as a person writes them, the best first.

    Raises:
        NoGroups: it holds something else than whole numbers, commas and plus signs.

    >>> [one.name for one in groups_of("4+5,0+1+2+3")]
    ['4+5', '0+1+2+3']
    """
    try:
        return tuple(group(*map(int, part.split("+"))) for part in text.split(","))
    except ValueError as error:
        raise NoGroups(f"{text!r} is not of the form 4+5,2+3,0+1") from error


def agree(graded: Graded, labels: Path | None, grouping: Grouping) -> Agreed:
    """Count how the best grade of each passage meets its label.

    Args:
        graded: passages.
        labels: a qrels file; without one, the judgments that the graded file recorded.
        grouping: which labels count as one.

    Raises:
        UnusableFile: naming file, line and field.
        NobodyElse: no passage has both.
        NoGroups: a label is in two groups.
    """
    best = {(p.query, p.passage): p.best for p in graded.passages if p.best is not None}
    if labels is None:
        said = {(p.query, p.passage): p.judgment for p in graded.passages if p.judgment is not None}
    else:
        said = {(row.query, row.passage): row.label for row in read_labels(labels)}
    pairs = [(best[key], said[key]) for key in best if key in said]
    name = "the judgments in it" if labels is None else str(labels)
    if not pairs:
        counts = f"{many(len(best), 'passage')} with a grade and {many(len(said), 'passage')} with a label"
        raise NobodyElse(f"{graded.basis.file} and {name}: {counts}, none with both")
    ours, theirs = _queries(best), _queries(said)
    return Agreed(
        graded=graded,
        table=_table(pairs, grouping),
        labels_of=name,
        pairs=len(pairs),
        only_graded=sum(key not in said and key[0] in theirs for key in best),
        only_labelled=sum(key not in best and key[0] in ours for key in said),
        queries_graded=tuple(sorted(ours - theirs)),
        queries_labelled=tuple(sorted(theirs - ours)),
        each=grouping.each,
    )


def _table(pairs: Sequence[tuple[int, int]], grouping: Grouping) -> InterAnnotatorTable:
    said = {label for _, label in pairs}
    if grouping.each:
        rows = [group(grade) for grade in range(MAXIMUM_GRADE, MINIMUM_GRADE - 1, -1)]
        table = inter_annotator(pairs, rows, [group(label) for label in sorted(said, reverse=True)])
        # A grade and a label at the same place of two scales do not mean the same: no kappa.
        return replace(table, kappas=(None,) * len(rows))
    grades = grouping.grades or _halves(range(MINIMUM_GRADE, MAXIMUM_GRADE + 1), grouping.minimum)
    border = grouping.relevant
    labels = grouping.labels or _halves(said | {border - 1, border}, border)
    try:
        return inter_annotator(pairs, grades, labels)
    except ValueError as error:
        raise NoGroups(str(error)) from error


def _halves(labels: Iterable[int], border: int) -> tuple[LabelGroup, LabelGroup]:
    ordered = sorted(labels)
    above, below = (
        group(*[label for label in ordered if (label >= border) is side]) for side in (True, False)
    )
    return above, below


def _queries(keys: Mapping[Key, int] | Iterable[Key]) -> set[str]:
    return {query for query, _ in keys}


def _notes(found: Agreed) -> Iterator[Note]:
    for where, queries in (
        ("the graded file", found.queries_graded),
        ("the labels", found.queries_labelled),
    ):
        if queries:
            shown = ", ".join(queries[:_NAMED]) + (" …" if len(queries) > _NAMED else "")
            text = f"{many(len(queries), 'query', 'queries')} only in {where}, left out: {shown}"
            yield Note("query_in_one_file", text)
    if found.only_graded:
        yield Note("no_label", f"{many(found.only_graded, 'graded passage')} without a label, left out")
    if found.only_labelled:
        yield Note("no_grade", f"{many(found.only_labelled, 'labelled passage')} without a grade, left out")
    if found.table.left_out:
        yield Note("in_no_group", f"{many(found.table.left_out, 'pair')} with a label in no group, left out")
    if not found.each and None in found.table.kappas:
        yield Note(
            "no_kappa",
            "no kappa where chance alone agrees perfectly (one label only) or no column means the same",
        )
