"""The tie threshold, swept: what if a larger or smaller difference of scores counted as a tie?"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import (
    NoThreshold,
    ThresholdPoint,
    threshold_by_equal_split,
    threshold_by_kappa,
)
from nuggetstream.nuggets.scores import preference
from nuggetstream.statistics.agreement import confusion_of, weighted_kappa

STEPS = tuple(step / 100 for step in range(31))
_TIES = (Vote.TIE, Vote.BOTH_BAD)
_DIGITS = 12  # that count when numbers are compared; the rest is rounding


@dataclass(frozen=True, slots=True)
class Step:
    """One threshold.

    Attributes:
        ties: share of the compared battles that the nuggets call a tie.
        agreement: share of human decisions that the nuggets share, a nugget tie counted half;
            None where people decided nothing.
        kappa: quadratic weights over A, tie, B; None where it has no answer.
    """

    threshold: float
    ties: float
    agreement: float | None
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A threshold chosen by the battles themselves, among all their differences.

    Attributes:
        threshold: None where the battles cannot choose one.
        kappa: quadratic weights, at that threshold.
        ties: share of battles that it makes a tie; "both bad" ones left out.
        tie_row: shares of A, tie and B among the battles people call a tie; None without such a battle.
        missing: why there is no threshold; None where there is one.
    """

    threshold: float | None
    kappa: float | None
    ties: float | None
    tie_row: tuple[float, ...] | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One human dimension.

    Attributes:
        compared: battles with both a label and nugget scores.
        labelled: battles with this dimension.
        received: all battles.
        decided: compared battles in which people prefer one answer.
        human_ties: share of the compared battles that people call a tie.
        used: threshold -> battles it was applied to in these results.
        best: the step with the highest kappa, the smallest among equals; None without one.
        equals: steps that have this kappa, the best included.
        equal_split: the threshold that splits human ties most evenly over A, tie and B.
        by_kappa: the threshold with the highest kappa.
        steps: every hundredth up to 0.3, the thresholds in use and the calibrated ones; none when there is
            nothing to compare.
    """

    dimension: str
    compared: int
    labelled: int
    received: int
    decided: int
    human_ties: float | None
    used: Mapping[float, int]
    best: float | None
    equals: int
    equal_split: Calibrated
    by_kappa: Calibrated
    steps: tuple[Step, ...]


def compute(results: Results) -> tuple[Sweep, ...]:
    """A sweep per human dimension."""
    return tuple(_sweep(results, name) for name in results.dimensions)


def _sweep(results: Results, dimension: str) -> Sweep:
    margins: list[float] = []
    humans: list[Vote] = []
    used: dict[float, int] = {}
    labelled = 0
    for battle in results.battles:
        if (vote := battle.preferences.get(dimension)) is None:
            continue
        labelled += 1
        if (verdict := battle.nugget_verdict) is not None:
            margins.append(verdict.margin)
            humans.append(vote)
            used[verdict.tie_threshold] = used.get(verdict.tie_threshold, 0) + 1
    even = _split(_calibrated(threshold_by_equal_split, margins, humans))
    by_kappa = _calibrated(threshold_by_kappa, margins, humans)
    calibrated = (found.threshold for found in (even, by_kappa) if found.threshold is not None)
    swept = sorted({round(threshold, _DIGITS) for threshold in (*STEPS, *used, *calibrated)})
    steps = tuple(_step(threshold, margins, humans) for threshold in swept) if margins else ()
    ties = sum(vote in _TIES for vote in humans)
    best = _best(steps)
    return Sweep(
        dimension=dimension,
        compared=len(humans),
        labelled=labelled,
        received=results.received,
        decided=len(humans) - ties,
        human_ties=ties / len(humans) if humans else None,
        used=used,
        best=best[0] if best else None,
        equals=len(best),
        equal_split=even,
        by_kappa=by_kappa,
        steps=steps,
    )


def _best(steps: Sequence[Step]) -> list[float]:
    """The thresholds with the highest kappa, smallest first; rounding makes none of them better."""
    known = {step.threshold: round(step.kappa, _DIGITS) for step in steps if step.kappa is not None}
    return sorted(threshold for threshold, kappa in known.items() if kappa == max(known.values()))


def _split(found: Calibrated) -> Calibrated:
    """No threshold where even the most even split has all human ties in one cell: it splits nothing."""
    if found.tie_row is None or max(found.tie_row) < 1:
        return found
    return Calibrated(None, None, None, None, "at every threshold all human ties are in one of A, tie and B")


def _calibrated(
    choose: Callable[[Sequence[float], Sequence[Vote]], ThresholdPoint],
    margins: Sequence[float],
    humans: Sequence[Vote],
) -> Calibrated:
    try:
        point = choose(margins, humans)
    except NoThreshold as error:
        return Calibrated(None, None, None, None, str(error))
    row = tuple(point.tie_row_shares.tolist()) if point.confusion[1].any() else None
    return Calibrated(point.threshold, point.kappa, point.tie_share, row, None)


def _step(threshold: float, margins: Sequence[float], humans: Sequence[Vote]) -> Step:
    votes = [preference(margin, 0.0, threshold) for margin in margins]
    decided = [(vote, human) for vote, human in zip(votes, humans, strict=True) if human not in _TIES]
    credit = sum(0.5 if vote is Vote.TIE else float(vote is human) for vote, human in decided)
    return Step(
        threshold=threshold,
        ties=sum(vote is Vote.TIE for vote in votes) / len(votes),
        agreement=credit / len(decided) if decided else None,
        kappa=weighted_kappa(confusion_of(humans, votes)),
    )
