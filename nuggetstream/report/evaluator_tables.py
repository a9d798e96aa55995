"""Evaluators beside people, as tables and as a figure."""

from collections.abc import Iterator, Mapping, Sequence

from nuggetstream.figures.drawn import DrawnTable
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.measurements import cost_figure
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table, count, flag, interval, number, text
from nuggetstream.report.battle_cost import BattleCost
from nuggetstream.report.comparing import Estimate
from nuggetstream.report.evaluator_agreement import PairRow, PeopleRow
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
Calibrations = Sequence[tuple[str, JudgeCalibration]]
Priced = Sequence[tuple[PeopleRow, BattleCost]]


def people_table(rows: Sequence[PeopleRow], by: str | None) -> Table:
    """Agreement with people: a row for each evaluator, dimension and group."""
    columns = (
        text("evaluator"),
        text("dimension"),
        *([text("group", by)] if by else []),
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
            *([row.group or "all"] if by else []),
            *(row.battles, row.right.compared, row.right.share, (row.right.low, row.right.high)),
            *_estimate(row.kappa),
            len(row.inverted),
        )
        for row in rows
    )
    return Table("Agreement with people", columns, cells, (_RIGHT, _KAPPA, _METHOD))


def confusion_table(rows: Sequence[PeopleRow]) -> Table:
    """What each evaluator says where people say A, tie and B."""
    columns = (text("evaluator"), text("people"), *(count(vote.lower(), vote) for vote in _VOTES))
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (row.evaluator, vote, *counts)
        for row in rows
        for vote, counts in zip(_VOTES, row.confusion, strict=True)
    )
    return Table("Evaluators in columns, people in rows", columns, cells)


def decided_table(rows: Sequence[PeopleRow]) -> Table:
    """Counts without ties: battles in which both people and the evaluator decide."""
    columns = (
        text("evaluator"),
        *(count(f"{people}{vote}".lower(), f"{people}, {vote}") for people in "AB" for vote in "AB"),
        number("right", digits=3),
        interval(*_BOUNDS, "95%"),
    )
    cells = []
    for row in rows:
        (aa, _, ab), _, (ba, _, bb) = row.confusion
        right = share(aa + bb, aa + ab + ba + bb)
        cells.append((row.evaluator, aa, ab, ba, bb, right.value, (right.low, right.high)))
    notes = ("people first, then the evaluator; 95%: Wilson's, which takes battles as independent",)
    return Table("Without ties", columns, tuple(cells), notes)


def inversions_table(rows: Sequence[PeopleRow], battles: Mapping[str, BattleRow], most: int) -> Table:
    """Battles in which an evaluator prefers the answer that people reject, the first ones of each."""
    columns = (text("evaluator"), text("battle"), text("query"))
    cells = tuple(
        (row.evaluator, name, battles[name].query[:_QUERY]) for row in rows for name in row.inverted[:most]
    )
    return Table("Inverted battles", columns, cells)


def pairs_table(rows: Sequence[PairRow], *, labels: bool) -> Table:
    """How often two evaluators, or the labels of two evaluations, are equal."""
    columns = (
        text("first"),
        text("second"),
        count("cases", "labels" if labels else "battles"),
        number("equal", digits=3),
        interval("equal_low", "equal_high", "95%"),
        number("kappa"),
        interval("kappa_low", "kappa_high", "95%"),
    )
    cells = tuple(
        (row.first, row.second, row.cases, *_estimate(row.equal), *_estimate(row.kappa)) for row in rows
    )
    title = "Labels of nuggets with the same text" if labels else "Agreement with each other"
    return Table(title, columns, cells, (_LABELS if labels else _KAPPA, _METHOD))


def costs_table(priced: Priced) -> DrawnTable:
    """How often each evaluator is right, beside what its model calls of a battle cost."""
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


def _picture(priced: Priced) -> Figure | None:
    currencies = {cost.currency for _, cost in priced if cost.calls != 0}
    in_money = len(currencies) == 1 and None not in currencies and any(cost.amount for _, cost in priced)
    points = [
        (row.evaluator, paid, row.right)
        for row, cost in priced
        if (paid := cost.amount if in_money else cost.calls) is not None and row.right.share is not None
    ]
    unit = f"{''.join(map(str, currencies))} a battle" if in_money else "model calls of a battle"
    return cost_figure("Accuracy against cost", points, unit)


def calibration_table(calibrations: Calibrations) -> Table:
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
        for name, own in calibrations
    )
    notes = ("right: the most probable of A, tie and B; 95%: Wilson's, which takes battles as independent",)
    return Table("Calibration", columns, cells, notes)


def bins_table(calibrations: Calibrations) -> Table:
    """Of the cases with a confidence in each tenth, the share in which the scorer is right."""
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
        for name, own in calibrations
        for one in own.calibration.bins
    )
    return Table("Calibration by confidence", columns, cells)


def combinations_table(found: Combinations | None, left_out: Sequence[str]) -> Table:
    """Panels and cascades, the best on the half that it is chosen on first; "right" is of the other half."""
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
    ordered = sorted(found.rows, key=lambda row: (not row.best, -row.chosen_on)) if found else []
    cells = tuple(
        (
            *(row.name, row.kind, row.threshold, row.chosen_on),
            *(row.share, (row.low, row.high), row.saved, row.best),
        )
        for row in ordered
    )
    return Table("Combinations, on held-out topics", columns, cells, tuple(_basis(found, left_out)))


def _basis(found: Combinations | None, left_out: Sequence[str]) -> Iterator[str]:
    if found is not None:
        (chosen, topics), (other, others) = found.chosen_on, found.reported_on
        yield f"chosen on {chosen} battles of {topics} queries; right on {other} of {others} other queries"
        yield from (_CASCADE, _METHOD)
    if left_out:
        yield f"left out, with votes on less than half of the battles: {', '.join(left_out)}"


def _estimate(found: Estimate | None) -> tuple[Cell, Cell]:
    return (None, (None, None)) if found is None else (found.value, (found.low, found.high))


def _scorer(evaluation: str, own: JudgeCalibration) -> str:
    return f"{evaluation}: {own.evaluator}"
