"""Share of the points of a system by people, by automatic votes, and by both (prediction-powered).

Source: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, "Prediction-powered inference", 2023; Angelopoulos,
Duchi, Zrnic, "PPI++", 2023.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.ratings.fitting.prediction_powered import TooFewVotes
from nuggetstream.ratings.interval import interval
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.statistics.proportion import two_sided_z, wilson

Floats = NDArray[np.float64]

_NO_SPREAD = 1e-9  # a standard error below it is a zero but for rounding
_NARROW = 1e-9  # width of an interval of a share that is zero but for rounding


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its standard error and normal interval.

    The error is 0 where all votes are the same. That is no certainty, so the interval then is Wilson's.
    """

    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class WinRate:
    """One win rate, estimated three ways.

    Attributes:
        human: from the human votes alone: right, and wide.
        automatic: from the automatic votes alone: narrow, and off by their bias.
        combined: right, and as narrow as the automatic votes deserve.
        tuning: λ in [0, 1], how much of the automatic votes went in.
    """

    human: Estimate
    automatic: Estimate
    combined: Estimate
    tuning: float


def win_rate(human: Floats, automatic: Floats, further: Floats, level: float = 0.95) -> WinRate:
    """Share of the points a system takes.

    combined = λ · mean(further) + mean(human - λ · automatic)
    variance = λ² · var(further) / N + var(human - λ · automatic) / n
    λ = cov(human, automatic) / ((1 + n/N) · var(automatic)), cut to [0, 1]

    Args:
        human: (n,) points by human vote, in [0, 1].
        automatic: (n,) points by automatic vote on the same battles.
        further: (N,) points by automatic vote on other battles.
        level: of the intervals.

    Returns:
        Shares in [0, 1] but for sampling error, which may carry the combined one past an end.

    Raises:
        TooFewVotes: n < 2.
        ValueError: points outside [0, 1], NaN included; sequences that do not match; a level outside (0, 1).

    Source: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, "Prediction-powered inference", 2023;
    Angelopoulos, Duchi, Zrnic, "PPI++", 2023.

    >>> people, judge, rest = np.array([1.0, 0, 1, 0]), np.array([1.0, 0, 1, 1]), np.array([1.0, 0, 1, 1])
    >>> rate = win_rate(people, judge, rest)
    >>> rate.human.value, rate.automatic.value
    (0.5, 0.75)
    >>> round(rate.tuning, 6), round(rate.combined.value, 6)  # cov 1/6, var 3/14, n = N: 7/9 / 2
    (0.388889, 0.5)
    """
    for points in (human, automatic, further):
        if not ((points >= 0) & (points <= 1)).all():
            raise ValueError("points are in [0, 1]")
    if len(human) != len(automatic):
        raise ValueError(f"{len(human)} human votes beside {len(automatic)} automatic ones")
    n, more = len(human), len(further)
    if n < 2:
        raise TooFewVotes(f"{n} human votes")
    spread = np.cov(np.stack([human, automatic]))
    tuning = 0.0
    pooled = np.concatenate([automatic, further])
    varies = float(pooled.var(ddof=1))
    if more > 1 and varies > 0:
        tuning = float(np.clip(spread[0, 1] / ((1 + n / more) * varies), 0.0, 1.0))
    rest = human - tuning * automatic
    value = rest.mean() + (tuning * further.mean() if more else 0.0)
    variance = rest.var(ddof=1) / n + (tuning**2 * further.var(ddof=1) / more if more > 1 else 0.0)
    return WinRate(
        human=_estimate(human.mean(), spread[0, 0] / n, n, level),
        automatic=_estimate(pooled.mean(), varies / len(pooled), len(pooled), level),
        combined=_estimate(value, variance, n, level),
        tuning=tuning,
    )


def _estimate(value: float, variance: float, votes: int, level: float) -> Estimate:
    value, error = float(value), float(np.sqrt(variance))
    if error < _NO_SPREAD:
        return Estimate(value, 0.0, *wilson(min(max(value, 0.0), 1.0) * votes, votes, level))
    reach = two_sided_z(level) * error
    return Estimate(value, error, value - reach, value + reach)


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the points in [0, 1] with its interval."""

    value: float
    low: float | None
    high: float | None
    interval_state: IntervalState


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRates:
    """Share of the points of one system, three ways.

    Attributes:
        human: By people alone; None where fewer than two battles have both votes, as the other two.
        tuning: λ in [0, 1]; None without the estimates.
        both: Battles with both votes.
        automatic_only: Battles with an automatic vote only.
    """

    system: str
    human: Share | None
    automatic: Share | None
    combined: Share | None
    tuning: float | None
    both: int
    automatic_only: int


def win_rates(votes: JointVotes, level: float = 0.95) -> tuple[WinRates, ...]:
    """Win rates of every system with an automatic vote, three ways, best first.

    Args:
        votes: Human and automatic outcomes of the same battles.
        level: Confidence level of the intervals.
    """
    rates = [_win_rate(votes, system, level) for system in votes.systems if votes.battles_of(system)[1]]

    def height(rate: WinRates) -> tuple[float, str]:
        best = rate.combined or rate.human or rate.automatic
        return (-best.value if best else 0.0), rate.system

    return tuple(sorted(rates, key=height))


def _win_rate(votes: JointVotes, system: str, level: float) -> WinRates:
    people, judge, further = votes.points_of(system)
    try:
        rates = win_rate(people, judge, further, level)
    except TooFewVotes:
        rates = None
    return WinRates(
        system=system,
        human=None if rates is None else _share(rates.human),
        automatic=None if rates is None else _share(rates.automatic),
        combined=None if rates is None else _share(rates.combined),
        tuning=None if rates is None else rates.tuning,
        both=len(people),
        automatic_only=len(further),
    )


def _share(rate: Estimate) -> Share:
    around = interval(max(rate.low, 0.0), min(rate.high, 1.0), zero_width=_NARROW)
    return Share(rate.value, around.low, around.high, around.state)
