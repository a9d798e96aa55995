"""The tie threshold, swept: what if a larger or smaller difference of scores counted as a tie?"""

from collections import Counter
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
_DIGITS = 12  # that count when numbers are compared; the rest is rounding


@dataclass(frozen=True, slots=True)
class Step:
    """One threshold.

    Attributes:
        threshold: Largest difference of scores that counts as a tie.
        ties: Share of the compared battles that the nuggets call a tie.
        agreement: Share of human decisions that the nuggets agree with, a nugget tie counted half; None
            where people decided nothing.
        kappa: Quadratic weights over A, tie, B; None where it is undefined.
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
        kappa: Quadratic weights, at that threshold.
        ties: Share of battles that it makes a tie; "both bad" ones are left out.
        tie_row: Shares of A, tie and B among the battles people call a tie; None without such a battle.
        missing: Why there is no threshold; None where there is one.
    """

    threshold: float | None = None
    kappa: float | None = None
    ties: float | None = None
    tie_row: tuple[float, ...] | None = None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Sweep:
    """One human dimension.

    Attributes:
        dimension: Its name.
        compared: Battles with both a label and nugget scores.
        labelled: Battles with this dimension.
        received: All battles.
        decided: Compared battles in which people prefer one answer.
        human_ties: Share of the compared battles that people call a tie.
        used: Threshold -> battles it was applied to in these results.
        best: The threshold with the highest kappa, the smallest of several; None without one.
        equals: How many steps have this kappa, the best included.
        equal_split: The threshold that splits human ties most evenly over A, tie and B.
        by_kappa: The threshold with the highest kappa.
        steps: Every hundredth up to 0.3, the thresholds in use and the calibrated ones; none when there is
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


def compute_threshold(results: Results) -> tuple[Sweep, ...]:
    """A sweep per human dimension."""
    return tuple(_sweep(results, dimension) for dimension in results.dimensions)


def _sweep(results: Results, dimension: str) -> Sweep:
    labelled = [battle for battle in results.battles if battle.preferences.get(dimension) is not None]
    scored = [
        (candidate.preferences[dimension], own) for candidate in labelled if (own := candidate.nugget_verdict)
    ]
    humans, margins = [vote for vote, _ in scored], [verdict.margin for _, verdict in scored]
    used = dict(Counter(verdict.tie_threshold for _, verdict in scored))
    equal_split = _only_if_it_splits(_calibrated(threshold_by_equal_split, margins, humans))
    by_kappa = _calibrated(threshold_by_kappa, margins, humans)
    calibrated = [
        candidate.threshold for candidate in (equal_split, by_kappa) if candidate.threshold is not None
    ]
    swept = sorted({round(threshold, _DIGITS) for threshold in (*STEPS, *used, *calibrated)})
    steps = tuple(_step(threshold, margins, humans) for threshold in swept) if margins else ()
    ties = sum(vote.is_tie for vote in humans)
    best = _best(steps)
    return Sweep(
        dimension=dimension,
        compared=len(humans),
        labelled=len(labelled),
        received=results.received,
        decided=len(humans) - ties,
        human_ties=ties / len(humans) if humans else None,
        used=used,
        best=best[0] if best else None,
        equals=len(best),
        equal_split=equal_split,
        by_kappa=by_kappa,
        steps=steps,
    )


def _best(steps: Sequence[Step]) -> list[float]:
    """The thresholds with the highest kappa, smallest first; rounding makes none of them better."""
    kappas = {step.threshold: round(step.kappa, _DIGITS) for step in steps if step.kappa is not None}
    return sorted(threshold for threshold, kappa in kappas.items() if kappa == max(kappas.values()))


def _only_if_it_splits(calibrated: Calibrated) -> Calibrated:
    """No threshold where even the most even split has all human ties in one cell: it splits nothing."""
    if calibrated.tie_row is None or max(calibrated.tie_row) < 1:
        return calibrated
    return Calibrated(missing="at every threshold all human ties fall into one of A, tie and B")


def _calibrated(
    choose: Callable[[Sequence[float], Sequence[Vote]], ThresholdPoint],
    margins: Sequence[float],
    humans: Sequence[Vote],
) -> Calibrated:
    try:
        point = choose(margins, humans)
    except NoThreshold as error:
        return Calibrated(missing=str(error))
    tie_row = tuple(point.tie_row_shares.tolist()) if point.confusion[1].any() else None
    return Calibrated(threshold=point.threshold, kappa=point.kappa, ties=point.tie_share, tie_row=tie_row)


def _step(threshold: float, margins: Sequence[float], humans: Sequence[Vote]) -> Step:
    votes = [preference(margin, 0.0, threshold) for margin in margins]
    decided = [(vote, human) for vote, human in zip(votes, humans, strict=True) if not human.is_tie]
    credit = sum(0.5 if vote is Vote.TIE else float(vote is human) for vote, human in decided)
    return Step(
        threshold=threshold,
        ties=sum(vote is Vote.TIE for vote in votes) / len(votes),
        agreement=credit / len(decided) if decided else None,
        kappa=weighted_kappa(confusion_of(humans, votes)),
    )
