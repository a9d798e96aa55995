"""Grades against the labels of assessors, passage by passage."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.graded_passage import MAXIMUM_GRADE, MINIMUM_GRADE
from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.relevance import grade_reached_by
from nuggetstream.rubric.scoring import Labels
from nuggetstream.rubric.verification import HIGH_GRADE, RELEVANT
from nuggetstream.statistics.inter_annotator import InterAnnotatorTable, LabelGroup, group, inter_annotator

_NAMED = 6


class NothingInCommon(ValueError):
    """No passage has both a grade and a label."""


class NoGroups(ValueError):
    """Groups of labels that cannot be used, such as one label in two of them."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which grades and which labels count as one.

    Attributes:
        grades: Groups of grades, the best first; empty for two groups, from `minimum` on and below it.
        labels: Groups of labels, the best first; empty for two groups, from `relevant` on and below it.
        minimum: Lowest grade that counts as relevant.
        relevant: Lowest label that means relevant.
        ungrouped: Count every grade against every label instead, without kappa.
        answers: Number of items that have to reach a grade; 1 takes the best grade of a passage.
    """

    grades: tuple[LabelGroup, ...] = ()
    labels: tuple[LabelGroup, ...] = ()
    minimum: int = HIGH_GRADE
    relevant: int = RELEVANT
    ungrouped: bool = False
    answers: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class GradeAgreement(Drawn):
    """How grades and labels agree.

    Attributes:
        graded: The passages and what is known about their file.
        counts: The grade of each passage against its label.
        labels_of: Where the labels come from.
        pairs: Number of passages with a grade and a label.
        only_graded: Number of graded passages without a label, in queries that have labels.
        only_labelled: Number of labelled passages without a grade, in queries that have grades.
        queries_graded: Graded queries without a label.
        queries_labelled: Labelled queries without a grade.
        ungrouped: Whether every grade was counted against every label.
        answers: Number of items that have to reach a grade; 1 takes the best grade of a passage.
        too_few: Number of passages that have grades, but fewer than that.
    """

    graded: Graded
    counts: InterAnnotatorTable
    labels_of: str
    pairs: int
    only_graded: int
    only_labelled: int
    queries_graded: tuple[str, ...]
    queries_labelled: tuple[str, ...]
    ungrouped: bool
    answers: int
    too_few: int

    @property
    def title(self) -> str:
        """Which grade is compared with the label."""
        return (
            "Best grade against label"
            if self.answers == 1
            else f"Grade {self.answers} items reach, against label"
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per group of grades, one column per group of labels, and kappa of each row."""
        columns = (
            tables.text("grade"),
            *(tables.count(f"label_{name}", name) for name in self.counts.columns),
            tables.count("total"),
            tables.number("kappa"),
        )
        groups = zip(
            self.counts.rows, self.counts.counts, self.counts.totals, self.counts.kappas, strict=True
        )
        rows = tuple((name, *counts, total, kappa) for name, counts, total, kappa in groups)
        pairs = f"{many(self.pairs, 'passage')} with a grade and a label; labels: {self.labels_of}"
        notes = (self.graded.basis.line, pairs, *(note.text for note in self.notes))
        return Table(self.title, columns, rows, notes)


def groups_of(text: str) -> tuple[LabelGroup, ...]:
    """Groups of labels as a person writes them, the best first.

    Raises:
        NoGroups: The text holds something else than whole numbers, commas and plus signs.

    >>> [label_group.name for label_group in groups_of("4+5,0+1+2+3")]
    ['4+5', '0+1+2+3']
    """
    try:
        return tuple(group(*map(int, part.split("+"))) for part in text.split(","))
    except ValueError as error:
        raise NoGroups(f"{text!r} is not of the form 4+5,2+3,0+1") from error


def agree(
    graded: Graded,
    labels: Labels | None = None,
    grouping: Grouping = Grouping(),
) -> GradeAgreement:
    """Count how the grade of each passage, its best unless more items must reach it, agrees with its label.

    Args:
        graded: Passages with grades.
        labels: Labels of assessors; None for the judgments that the graded passages carry.
        grouping: Which grades and which labels count as one.

    Raises:
        NothingInCommon: No passage has both a grade and a label.
        NoGroups: A grade or label is in two groups.
    """
    reached = {(p.query, p.passage): grade_reached_by(grouping.answers)(p) for p in graded.passages}
    grade_of = {key: grade for key, grade in reached.items() if grade is not None}
    if labels is None:
        labels_of = "the judgments in it"
        label_of = {(p.query, p.passage): p.judgment for p in graded.passages if p.judgment is not None}
    else:
        labels_of = labels.source
        label_of = {(row.query, row.passage): row.label for row in labels.rows}
    pairs = [(grade_of[key], label_of[key]) for key in grade_of if key in label_of]
    if not pairs:
        counts = f"{many(len(grade_of), 'passage')} with a grade and {many(len(label_of), 'passage')}"
        raise NothingInCommon(
            f"{graded.basis.file or 'the passages'} and {labels_of}: {counts} with a label, none with both"
        )
    graded_queries, labelled_queries = ({query for query, _ in keys} for keys in (grade_of, label_of))
    return GradeAgreement(
        graded=graded,
        counts=_table(pairs, grouping),
        labels_of=labels_of,
        pairs=len(pairs),
        only_graded=sum(key not in label_of and key[0] in labelled_queries for key in grade_of),
        only_labelled=sum(key not in grade_of and key[0] in graded_queries for key in label_of),
        queries_graded=tuple(sorted(graded_queries - labelled_queries)),
        queries_labelled=tuple(sorted(labelled_queries - graded_queries)),
        ungrouped=grouping.ungrouped,
        answers=grouping.answers,
        too_few=len(reached) - len(grade_of) - graded.basis.ungraded,
    )


def _table(pairs: Sequence[tuple[int, int]], grouping: Grouping) -> InterAnnotatorTable:
    known_labels = {label for _, label in pairs}
    if grouping.ungrouped:
        rows = [group(grade) for grade in range(MAXIMUM_GRADE, MINIMUM_GRADE - 1, -1)]
        table = inter_annotator(pairs, rows, [group(label) for label in sorted(known_labels, reverse=True)])
        # A grade and a label in the same position of two scales do not mean the same: no kappa.
        return replace(table, kappas=(None,) * len(rows))
    grades = grouping.grades or _halves(range(MINIMUM_GRADE, MAXIMUM_GRADE + 1), grouping.minimum)
    border = grouping.relevant
    labels = grouping.labels or _halves(known_labels | {border - 1, border}, border)
    try:
        return inter_annotator(pairs, grades, labels)
    except ValueError as error:
        raise NoGroups(str(error)) from error


def _halves(labels: Iterable[int], border: int) -> tuple[LabelGroup, LabelGroup]:
    ordered = sorted(labels)
    return (
        group(*(label for label in ordered if label >= border)),
        group(*(label for label in ordered if label < border)),
    )


def _notes(agreement: GradeAgreement) -> Iterator[Note]:
    for side, queries in (
        ("the graded file", agreement.queries_graded),
        ("the labels", agreement.queries_labelled),
    ):
        if queries:
            named = ", ".join(queries[:_NAMED]) + (" …" if len(queries) > _NAMED else "")
            text = f"{many(len(queries), 'query', 'queries')} only in {side}, left out: {named}"
            yield Note("query_in_one_file", text)
    if agreement.answers > 1:
        text = f"a passage has the highest grade that {agreement.answers} of its items reach"
        if agreement.too_few:
            text += f"; {many(agreement.too_few, 'passage')} with fewer grades, left out"
        yield Note("several_answers", text)
    if agreement.only_graded:
        passages = many(agreement.only_graded, "graded passage")
        yield Note("no_label", f"{passages} without a label, left out")
    if agreement.only_labelled:
        passages = many(agreement.only_labelled, "labelled passage")
        yield Note("no_grade", f"{passages} without a grade, left out")
    if agreement.counts.left_out:
        pairs = many(agreement.counts.left_out, "pair")
        yield Note("in_no_group", f"{pairs} with a label in no group, left out")
    if not agreement.ungrouped and None in agreement.counts.kappas:
        yield Note(
            "no_kappa",
            "no kappa where chance alone agrees perfectly (one label only) or no column means the same",
        )
