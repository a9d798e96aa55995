"""Relevance labels from grades, as a file that trec_eval reads."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.graded_passage import Relevance
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.rubric.graded import Graded
from nuggetstream.rubric.relevance import Label, best_grade, best_grade_from, items_answered, relevance_labels


class By(StrEnum):
    """What becomes the label of a passage."""

    MAX = "max"
    COUNT = "count"


class NoMinimum(ValueError):
    """Counting answered items needs to know from which grade an item is answered."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """Labels in the order of the file.

    Attributes:
        graded: what they rest on; its ungraded passages have no line.
        labels: one per graded passage.
    """

    graded: Graded
    labels: tuple[Relevance, ...]

    @property
    def counts(self) -> Mapping[int, int]:
        """Label -> passages, highest first."""
        return dict(sorted(Counter(row.label for row in self.labels).items(), reverse=True))

    @property
    def queries(self) -> int:
        """How many queries have a label."""
        return len({row.query for row in self.labels})


def label(graded: Graded, by: By, minimum: int | None) -> Labelled:
    """A label for every graded passage.

    Args:
        graded: passages.
        by: the best grade, or the number of items answered.
        minimum: grade from which an item is answered; a best grade below it becomes 0.

    Raises:
        NoMinimum: items are to be counted and there is no minimum.
        UnusableFile: nothing is graded, or an id does not fit into a column of a qrels file.
    """
    labels = relevance_labels(graded.passages, _label(by, minimum))
    if not labels:
        raise UnusableFile(f"{graded.basis.file}: self_ratings: no passage has a grade")
    for row in labels:
        for field, name in (("query id", row.query), ("paragraph_id", row.passage)):
            if len(name.split()) != 1:
                problem = f"{field}: {name!r} is empty or holds a blank, which ends a column of a qrels file"
                raise UnusableFile(f"{graded.basis.file}: {problem}")
    return Labelled(graded, tuple(labels))


def _label(by: By, minimum: int | None) -> Label:
    if by is By.COUNT:
        if minimum is None:
            raise NoMinimum("--by count needs --min-grade: from which grade is an item answered?")
        return items_answered(minimum)
    return best_grade if minimum is None else best_grade_from(minimum)
