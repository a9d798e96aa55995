"""Second assigners: how far another model gives the same labels to the same nuggets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import integer, many, number, percent
from nuggetstream.files.results import Results
from nuggetstream.nuggets.label_agreement import ORDER, LabelAgreement, LabelPair, agreement_of, label_pairs
from nuggetstream.report.blocks import Block, NotMeasured, Table
from nuggetstream.report.section import Content, Part


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


def compute(results: Results) -> tuple[SecondAssigner, ...]:
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
    found = []
    for grading in battle.gradings:
        for member, model, grades in grading.by_grader():
            name = grading.evaluator if member is None else f"{grading.evaluator}/{member}"
            labels = (((grade.item, grade.sides), grade.criterion, grade.label) for grade in grades)
            if pairs := Counter(label_pairs(labels)):
                found.append(((name, model), pairs))
    return found


def draw(assigners: Sequence[SecondAssigner]) -> Content:
    """Per assigner the table of labels, with kappa in its caption."""
    findings: tuple[str, ...] = ()
    if assigners:
        first = assigners[0].agreement
        same = f"{integer(first.agreed)} of {many(first.labels, 'label')} are the same"
        findings = (f"{same} ({_kappas(first)}).",)
    blocks: list[Block] = [_table(assigner) for assigner in assigners]
    return Content(
        findings=findings,
        reading="A second model labels the same nuggets for the same answers. Its labels are in no score. "
        "Cohen's kappa is agreement beyond chance: 1 for equal labels, 0 for what chance gives. Two models "
        "that err alike agree, too, so a high kappa does not show that labels are right; a low one shows "
        "that they are doubtful.",
        basis=many(sum(assigner.battles for assigner in assigners), "battle"),
        blocks=tuple(blocks) or (NotMeasured("labels of a second assigner", "no evaluator is one"),),
    )


def _kappas(agreement: LabelAgreement) -> str:
    weighted, plain = (
        "unknown" if kappa is None else number(kappa, 2) for kappa in (agreement.kappa, agreement.unweighted)
    )
    return f"kappa {weighted} weighted, {plain} unweighted"


def _table(assigner: SecondAssigner) -> Table:
    rows = []
    for first in ORDER:
        counted = assigner.counts[first.value]
        row = [counted[second.value] for second in ORDER]
        share = None if not sum(row) else counted[first.value] / sum(row)
        rows.append((_word(first), *map(integer, row), "–" if share is None else percent(share, 0)))
    columns = ("label of the first", *(_word(second) for second in ORDER), "the same")
    caption = f"{assigner.evaluator.replace('_', ' ')}, {assigner.model}: {_kappas(assigner.agreement)}"
    return Table(caption=caption, columns=columns, rows=rows)


def _word(label: str) -> str:
    return label.replace("_", " ")


PART = Part("assigners", compute, draw)
