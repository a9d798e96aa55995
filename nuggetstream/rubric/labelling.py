"""Relevance labels from grades, as a file that trec_eval reads."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.qrels import qrels_text
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.relevance import Label, best_grade, best_grade_from, items_answered, relevance_labels


class By(StrEnum):
    """What becomes the label of a passage."""

    MAX = "max"  # its best grade
    COUNT = "count"  # the number of items it answers


class NoMinimum(ValueError):
    """Counting answered items needs a lowest grade at which an item is answered."""


class NoLabel(ValueError):
    """No passage has a grade, or an id does not fit into a column of a qrels file."""


@dataclass(frozen=True, slots=True, repr=False)
class LabelledPassages(Tabular):
    """Relevance labels in the order of the passages.

    Attributes:
        graded: The passages; those without a grade have no label.
        labels: One per graded passage.
    """

    graded: Graded
    labels: tuple[Relevance, ...]

    @property
    def counts(self) -> Mapping[int, int]:
        """Label -> number of passages, highest label first."""
        return dict(sorted(Counter(row.label for row in self.labels).items(), reverse=True))

    @property
    def queries(self) -> int:
        """Number of queries with a label."""
        return len({row.query for row in self.labels})

    def table(self) -> Table:
        """One row per labelled passage."""
        columns = (tables.text("query"), tables.text("passage"), tables.count("label"))
        return Table("Relevance labels", columns, tables.rows_from(columns, self.labels), self._notes())

    def counts_table(self) -> Table:
        """How often each label was given, the highest first."""
        columns = (tables.count("label"), tables.count("passages"))
        return Table("Relevance labels", columns, tuple(self.counts.items()), self._notes())

    def _notes(self) -> tuple[str, ...]:
        basis = self.graded.basis
        without = f"{many(basis.ungraded, 'passage')} without a grade: no label, which is not a 0"
        return (basis.line, without) if basis.ungraded else (basis.line,)

    def to_qrels(self, path: str | Path) -> Path:
        """Write the labels as a qrels file, which trec_eval reads; its folder is created when missing.

        Returns:
            The path written.

        Raises:
            OSError: The file cannot be written.
        """
        out = Path(path)
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(qrels_text(self.labels), encoding="utf-8")
        return out


def label(graded: Graded, by: By = By.MAX, minimum: int | None = None) -> LabelledPassages:
    """A relevance label for every graded passage.

    Args:
        graded: Passages with grades.
        by: Take the best grade, or the number of items answered.
        minimum: Lowest grade at which an item is answered; a best grade below it becomes 0.

    Raises:
        NoMinimum: Items are to be counted and there is no minimum.
        NoLabel: Nothing is graded, or an id is empty or holds a blank, which ends a column of a qrels file.
    """
    labels = relevance_labels(graded.passages, _label(by, minimum))
    source = graded.basis.file or "the passages"
    if not labels:
        raise NoLabel(f"{source}: self_ratings: no passage has a grade")
    for row in labels:
        for field, name in (("query id", row.query), ("paragraph_id", row.passage)):
            if len(name.split()) != 1:
                problem = f"{field}: {name!r} is empty or holds a blank, which ends a column of a qrels file"
                raise NoLabel(f"{source}: {problem}")
    return LabelledPassages(graded, tuple(labels))


def _label(by: By, minimum: int | None) -> Label:
    if by is By.COUNT:
        if minimum is None:
            raise NoMinimum("--by count needs --min-grade: from which grade is an item answered?")
        return items_answered(minimum)
    return best_grade if minimum is None else best_grade_from(minimum)
