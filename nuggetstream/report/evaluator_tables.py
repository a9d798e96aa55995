"""Evaluators beside people, as tables and as a figure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.measurements import cost_figure
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, count, flag, interval, number, text
from nuggetstream.report.battle_cost import BattleCost
from nuggetstream.report.estimates import interval_cells
from nuggetstream.report.evaluator_agreement import PairRow, PeopleRow
from nuggetstream.report.evaluator_biases import BiasRow, biases_table
from nuggetstream.report.numbers.calibration import JudgeCalibration
from nuggetstream.statistics.combination import Combinations
from nuggetstream.statistics.share import share

_METHOD = "95%: percentile bootstrap over whole queries; of a share Wilson's where all queries agree alike"
_RIGHT = "right: of the battles that people decide; a predicted tie counts half"
_KAPPA = "kappa: Cohen's with quadratic weights over A, tie, B"
_LABELS = "kappa: Cohen's with quadratic weights, from contradiction over no and partial support to support"
_CASCADE = "t: margin from which on the first of a cascade decides alone; saved: share that it decides"
_BOUNDS = ("low", "high")
_VOTES = ("A", "tie", "B")
_QUERY = 80  # characters of a query in a table


@dataclass(frozen=True, slots=True, repr=False)
class EvaluatorStudy(Drawn):
    """Evaluators beside people. Printed, it is the table of agreement with people.

    Attributes:
        battles: Battles by id, from the first evaluation that has them.
        people: Each evaluator beside people: in each dimension, then in each group.
        pairs: Each two evaluators.
        labels: Labels of nuggets with the same text in each two evaluations.
        costs: Evaluator -> what its model calls of a battle cost.
        calibrations: Evaluation and scorer with probabilities, as far as people voted.
        biases: Preferences of nuggets and judges for position, length and the family of their model.
        combinations: Evaluators combined, in the first dimension; None without a battle that all decide.
        left_out: Evaluators with too few votes to be combined.
        by: Name of the grouping; None without one.
    """

    battles: Mapping[str, BattleRow]
    people: Sequence[PeopleRow]
    pairs: Sequence[PairRow]
    labels: Sequence[PairRow]
    costs: Mapping[str, BattleCost]
    calibrations: Sequence[tuple[str, JudgeCalibration]]
    biases: Sequence[BiasRow]
    combinations: Combinations | None
    left_out: Sequence[str]
    by: str | None = None

    def table(self) -> Table:
        """Agreement with people: a row for each evaluator, dimension and group."""
        columns = (
            text("evaluator"),
            text("dimension"),
            *([text("group", self.by)] if self.by else []),
            count("battles"),
            count("decided"),
            number("right", digits=3),
            interval("right_low", "right_high", "95%"),
            number("kappa"),
            interval("kappa_low", "kappa_high", "95%"),
            count("inverted"),
        )
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (
                *(row.evaluator, row.dimension),
                *([row.group or "all"] if self.by else []),
                *(row.battles, row.right.compared, row.right.share, (row.right.low, row.right.high)),
                *interval_cells(row.kappa),
                len(row.inverted),
            )
            for row in self.people
        )
        return Table("Agreement with people", columns, cells, (_RIGHT, _KAPPA, _METHOD))

    def confusion_table(self) -> Table:
        """What each evaluator says where people say A, tie and B, in the first dimension."""
        columns = (text("evaluator"), text("people"), *(count(vote.lower(), vote) for vote in _VOTES))
        cells: tuple[tuple[Cell, ...], ...] = tuple(
            (row.evaluator, vote, *counts)
            for row in self._first()
            for vote, counts in zip(_VOTES, row.confusion, strict=True)
        )
        return Table("Evaluators in columns, people in rows", columns, cells)

    def decided_table(self) -> Table:
        """The same without ties of people and of the evaluator."""
        columns = (
            text("evaluator"),
            *(count(f"{people}{vote}".lower(), f"{people}, {vote}") for people in "AB" for vote in "AB"),
            number("right", digits=3),
            interval(*_BOUNDS, "95%"),
        )
        cells = []
        for row in self._first():
            (aa, _, ab), _, (ba, _, bb) = row.confusion
            right = share(aa + bb, aa + ab + ba + bb)
            cells.append((row.evaluator, aa, ab, ba, bb, right.value, (right.low, right.high)))
        notes = ("people first, then the evaluator; 95%: Wilson's, which takes battles as independent",)
        return Table("Without ties", columns, tuple(cells), notes)

    def inversions_table(self, most: int = 5) -> Table:
        """Battles in which an evaluator prefers the answer that people reject, in the first dimension.

        Args:
            most: How many battles are listed for each evaluator.
        """
        columns = (text("evaluator"), text("battle"), text("query"))
        cells = tuple(
            (row.evaluator, name, self.battles[name].query[:_QUERY])
            for row in self._first()
            for name in row.inverted[:most]
        )
        return Table("Inverted battles", columns, cells)

    def pairs_table(self) -> Table:
        """How often each two evaluators prefer the same answer."""
        return _pairs(self.pairs, "Agreement with each other", "battles", _KAPPA)

    def labels_table(self) -> Table:
        """How often the labels of two evaluations are equal, where nuggets have the same text."""
        return _pairs(self.labels, "Labels of nuggets with the same text", "labels", _LABELS)

    def costs_table(self) -> DrawnTable:
        """How often each evaluator is right, beside what its model calls cost; `plot()` draws it."""
        priced = [(row, self.costs[row.evaluator]) for row in self._first()]
        columns = (
            text("evaluator"),
            number("right", digits=3),
            interval(*_BOUNDS, "95%"),
            number("calls", digits=1),
            number("input_tokens", digits=0),
            number("output_tokens", digits=0),
            number("amount", "money", digits=4),
            text("currency"),
        )
        cells = tuple(
            (
                *(row.evaluator, row.right.share, (row.right.low, row.right.high)),
                *(cost.calls, cost.input_tokens, cost.output_tokens, cost.amount, cost.currency),
            )
            for row, cost in priced
        )
        notes = (_RIGHT, "cost: means of a battle; a dash is not known, as of one of several judges")
        return DrawnTable("Accuracy against cost", columns, cells, notes, drawing=lambda: _picture(priced))

    def calibration_table(self) -> Table:
        """How far the probabilities of each scorer fit what people said."""
        columns = (
            text("scorer"),
            text("dimension"),
            count("cases"),
            number("confidence", digits=3),
            number("right", digits=3),
            interval(*_BOUNDS, "95%"),
            number("error", "calibration error", digits=3),
            number("brier", "Brier score", digits=3),
            number("brier_of_shares", "of shares alone", digits=3),
        )
        cells = tuple(
            (
                *(_scorer(name, own), own.dimension, own.calibration.cases, own.calibration.confidence),
                *(own.calibration.right.value, (own.calibration.right.low, own.calibration.right.high)),
                *(own.calibration.error, own.calibration.brier, own.calibration.brier_of_shares),
            )
            for name, own in self.calibrations
        )
        notes = (
            "right: the most probable of A, tie and B; 95%: Wilson's, which takes battles as independent",
        )
        return Table("Calibration", columns, cells, notes)

    def bins_table(self) -> Table:
        """The share in which each scorer is right, by its confidence, in the first dimension."""
        first = [row.dimension for row in self._first()[:1]]
        columns = (
            text("scorer"),
            text("dimension"),
            interval("from", "to", "confidence", digits=1),
            number("mean", digits=3),
            count("cases"),
            number("right", digits=3),
            interval(*_BOUNDS, "95%"),
        )
        cells = tuple(
            (
                *(_scorer(name, own), own.dimension, (one.low, one.high), one.confidence),
                *(one.right.of, one.right.value, (one.right.low, one.right.high)),
            )
            for name, own in self.calibrations
            if own.dimension in first
            for one in own.calibration.bins
        )
        return Table("Calibration by confidence", columns, cells)

    def biases_table(self) -> Table:
        """How often nuggets and judges prefer the answer shown first, the longer one, and their family's."""
        return biases_table(self.biases)

    def combinations_table(self) -> Table:
        """Panels and cascades, the best on the half of the queries that it is chosen on first."""
        columns = (
            text("combination"),
            text("kind"),
            number("threshold", "t"),
            number("chosen_on", digits=3),
            number("right", digits=3),
            interval(*_BOUNDS, "95%"),
            number("saved", digits=3),
            flag("best"),
        )
        combinations = self.combinations
        ordered = (
            sorted(combinations.rows, key=lambda row: (not row.best, -row.chosen_on)) if combinations else []
        )
        cells = tuple(
            (
                *(row.name, row.kind, row.threshold, row.chosen_on),
                *(row.share, (row.low, row.high), row.saved, row.best),
            )
            for row in ordered
        )
        return Table(
            "Combinations, on held-out topics", columns, cells, tuple(_basis(combinations, self.left_out))
        )

    def numbers(self) -> dict[str, Any]:
        """All numbers as plain values, without the battles."""
        numbers = asdict(replace(self, battles={}))
        return {name: value for name, value in numbers.items() if name != "battles"}

    def _first(self) -> list[PeopleRow]:
        """The rows of the first dimension over all battles."""
        first = self.people[0].dimension if self.people else None
        return [row for row in self.people if row.dimension == first and row.group is None]


def _pairs(rows: Sequence[PairRow], title: str, cases: str, note: str) -> Table:
    """How often two evaluators, or the labels of two evaluations, are equal."""
    columns = (
        text("first"),
        text("second"),
        count("cases", cases),
        number("equal", digits=3),
        interval("equal_low", "equal_high", "95%"),
        number("kappa"),
        interval("kappa_low", "kappa_high", "95%"),
    )
    cells = tuple(
        (row.first, row.second, row.cases, *interval_cells(row.equal), *interval_cells(row.kappa))
        for row in rows
    )
    return Table(title, columns, cells, (note, _METHOD))


def _picture(priced: Sequence[tuple[PeopleRow, BattleCost]]) -> Figure | None:
    currencies = {cost.currency for _, cost in priced if cost.calls != 0}
    in_money = len(currencies) == 1 and None not in currencies and any(cost.amount for _, cost in priced)
    points = [
        (row.evaluator, paid, row.right)
        for row, cost in priced
        if (paid := cost.amount if in_money else cost.calls) is not None and row.right.share is not None
    ]
    unit = f"{''.join(map(str, currencies))} a battle" if in_money else "model calls of a battle"
    return cost_figure("Accuracy against cost", points, unit)


def _basis(combinations: Combinations | None, left_out: Sequence[str]) -> Iterator[str]:
    if combinations is not None:
        (chosen, topics), (other, others) = combinations.chosen_on, combinations.reported_on
        yield f"chosen on {chosen} battles of {topics} queries; right on {other} of {others} other queries"
        yield from (_CASCADE, _METHOD)
    if left_out:
        yield f"left out, with votes on less than half of the battles: {', '.join(left_out)}"


def _scorer(evaluation: str, own: JudgeCalibration) -> str:
    return f"{evaluation}: {own.evaluator}"
