"""Second assigners: how far another model gives the same labels to the same nuggets."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

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
    battles: Counter[tuple[str, str]] = Counter()
    counts: dict[tuple[str, str], Counter[LabelPair]] = {}
    for battle in results.battles:
        for name, pairs in _of_battle(battle):
            battles[name] += 1
            counts.setdefault(name, Counter()).update(pairs)
    return tuple(
        SecondAssigner(*name, battles[name], _table_of(counts[name]), agreement_of(counts[name]))
        for name in sorted(counts)
    )


def _table_of(counts: Counter[LabelPair]) -> dict[str, dict[str, int]]:
    """Counts of all pairs of labels, as the JSON of the report has them."""
    return {first.value: {second.value: counts[first, second] for second in ORDER} for first in ORDER}


def _of_battle(battle: BattleRow) -> list[tuple[tuple[str, str], Counter[LabelPair]]]:
    by_assigner = []
    for grading in battle.gradings:
        for member, model, grades in grading.by_grader():
            name = grading.evaluator if member is None else f"{grading.evaluator}/{member}"
            labels = (((grade.item, grade.sides), grade.criterion, grade.label) for grade in grades)
            if pairs := Counter(label_pairs(labels)):
                by_assigner.append(((name, model), pairs))
    return by_assigner
