"""Second assigners: how far another model gives the same labels to the same nuggets."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.nuggets.label_agreement import ORDER, LabelAgreement, LabelPair, agreement_of, label_pairs


@dataclass(frozen=True, slots=True)
class SecondAssigner:
    """The labels of one second assigner beside those of the first.

    Attributes:
        evaluator: Its name; of a member of a panel "PANEL/MEMBER".
        model: Its model.
        battles: Number of battles with labels of both.
        counts: Number of labels, by the label of the first assigner and then by its own.
        agreement: The agreement of the two.
    """

    evaluator: str
    model: str
    battles: int
    counts: Mapping[str, Mapping[str, int]]
    agreement: LabelAgreement


def compute_assigners(results: Results) -> tuple[SecondAssigner, ...]:
    """One per evaluator and model, from the labels in the results."""
    by_assigner = grouped(pairs for battle in results.battles for pairs in _of_battle(battle))
    return tuple(
        SecondAssigner(*name, len(own), _table_of(counts := sum(own, Counter())), agreement_of(counts))
        for name, own in sorted(by_assigner.items(), key=lambda item: item[0])
    )


def _table_of(counts: Counter[LabelPair]) -> dict[str, dict[str, int]]:
    """Counts of all pairs of labels, as the JSON of the report has them."""
    return {first.value: {second.value: counts[first, second] for second in ORDER} for first in ORDER}


def _of_battle(battle: BattleRow) -> Iterator[tuple[tuple[str, str], Counter[LabelPair]]]:
    for grading in battle.gradings:
        for member, model, grades in grading.by_grader():
            name = grading.evaluator if member is None else f"{grading.evaluator}/{member}"
            labels = (((grade.item, grade.sides), grade.criterion, grade.label) for grade in grades)
            if pairs := Counter(label_pairs(labels)):
                yield (name, model), pairs
