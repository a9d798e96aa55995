"""How far two assigners agree who labelled the same nuggets for the same answers.

    labels of the first, labels of the second  ->  counts per pair of labels  ->  Cohen's kappa

Two models that err alike agree without being right, so agreement bounds nothing from above; but nuggets on
which they differ are those to read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.grade import Criterion, Grade
from nuggetstream.domain.nugget import Support
from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa

# From the least to the most support. Without contradictions kappa is that of the other three labels.
ORDER = (Support.CONTRADICTION, Support.NOT_SUPPORT, Support.PARTIAL_SUPPORT, Support.SUPPORT)
# Of a grade: as much as the label counts in scores, so a contradiction is no less than no support.
VALUES = {
    Support.CONTRADICTION: 0.0,
    Support.NOT_SUPPORT: 0.0,
    Support.PARTIAL_SUPPORT: 1.0,
    Support.SUPPORT: 2.0,
}
SCALE = "contradiction 0, not_support 0, partial_support 1, support 2"
SECOND = Criterion("support", SCALE, 0, 2)  # the label of the second assigner
FIRST = Criterion("first_label", SCALE, 0, 2)  # the label that it is compared with

_LABELS = {label.value: label for label in ORDER}

LabelPair = tuple[Support, Support]


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """The agreement of two assigners. A kappa is None where chance alone would agree perfectly.

    Attributes:
        labels: Number of labels that both gave.
        agreed: Number of these that are equal.
        kappa: Cohen's kappa with quadratic weights over the four labels in order, in [-1, 1].
        unweighted: Cohen's kappa in which all disagreements are alike, in [-1, 1].
    """

    labels: int
    agreed: int
    kappa: float | None
    unweighted: float | None


def agreement_of(counts: Mapping[LabelPair, int]) -> LabelAgreement:
    """The agreement from counts of pairs of labels, that of the first assigner first.

    Source: Cohen, 1960 and 1968.

    >>> same = {(label, label): 5 for label in ORDER}
    >>> agreement_of(same)
    LabelAgreement(labels=20, agreed=20, kappa=1.0, unweighted=1.0)
    """
    table = np.array([[counts.get((first, second), 0) for second in ORDER] for first in ORDER], dtype=float)
    return LabelAgreement(
        labels=int(table.sum()),
        agreed=int(np.trace(table)),
        kappa=weighted_kappa(table, KappaWeights.QUADRATIC),
        unweighted=weighted_kappa(table, KappaWeights.NONE),
    )


def pairs_of(grades: Iterable[Grade]) -> Counter[LabelPair]:
    """The pairs of labels in the grades of a second assigner; none in those of another evaluator."""
    return Counter(label_pairs((grade.subject, grade.criterion, grade.label) for grade in grades))


def label_pairs(grades: Iterable[tuple[object, str, str | None]]) -> Iterator[LabelPair]:
    """The pairs of labels of the same subject.

    Args:
        grades: Subject, name of the criterion and label of each grade.
    """
    labels: dict[object, dict[str, Support]] = {}
    for subject, criterion, label in grades:
        if label is not None and criterion in (FIRST.name, SECOND.name) and label in _LABELS:
            labels.setdefault(subject, {})[criterion] = _LABELS[label]
    for of_subject in labels.values():
        if len(of_subject) == 2:
            yield of_subject[FIRST.name], of_subject[SECOND.name]
