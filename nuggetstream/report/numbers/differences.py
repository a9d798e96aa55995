"""Differences: are the nugget scores further apart when people see a clear winner?"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import Results
from nuggetstream.statistics.distributions import density, kolmogorov_smirnov
from nuggetstream.statistics.paired import benjamini_hochberg

ENOUGH = 5  # values; a density or a test of fewer would say nothing
GRID = tuple(round(float(x), 2) for x in np.linspace(-1, 1, 201))


@dataclass(frozen=True, slots=True)
class Group:
    """The differences of the battles with one vote.

    Attributes:
        vote: What people say.
        differences: All Score of A minus that of B, in [-1, 1], one per battle.
        mean: Of the differences.
        median: Of the differences.
        density: At `GRID`; None where it cannot be drawn.
        missing: Why there is no density; None where there is one.
    """

    vote: str
    differences: tuple[float, ...]
    mean: float | None
    median: float | None
    density: tuple[float, ...] | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two-sample Kolmogorov-Smirnov test between two groups.

    Attributes:
        first: Vote of the first group.
        second: Vote of the second group.
        sizes: Battles of the first and of the second group.
        statistic: Largest distance between the distribution functions, in [0, 1]; None without a test.
        p: Probability that two samples of one distribution lie this far apart; None without a test.
        p_adjusted: The same after Benjamini-Hochberg over the tests of the dimension.
        missing: Why there is no test; None where there is one.
    """

    first: str
    second: str
    sizes: tuple[int, int]
    statistic: float | None
    p: float | None
    p_adjusted: float | None
    missing: str | None


@dataclass(frozen=True, slots=True)
class Differences:
    """One human dimension.

    Attributes:
        dimension: Its name.
        compared: Labelled battles that have nugget scores.
        labelled: Battles with this dimension.
        received: All battles.
        groups: One per vote that occurs.
        comparisons: One per pair of groups.
    """

    dimension: str
    compared: int
    labelled: int
    received: int
    groups: tuple[Group, ...]
    comparisons: tuple[Comparison, ...]


def compute_differences(results: Results) -> tuple[Differences, ...]:
    """Densities and tests per human dimension."""
    return tuple(_differences(results, dimension) for dimension in results.dimensions)


def _differences(results: Results, dimension: str) -> Differences:
    by_vote: dict[str, list[float]] = {vote.value: [] for vote in (Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD)}
    labelled = 0
    for battle in results.battles:
        if (vote := battle.preferences.get(dimension)) is None:
            continue
        labelled += 1
        if battle.nugget_verdict is not None:
            by_vote[vote.value].append(battle.nugget_verdict.margin)
    margins = {vote: values for vote, values in by_vote.items() if values}
    return Differences(
        dimension=dimension,
        compared=sum(map(len, margins.values())),
        labelled=labelled,
        received=results.received,
        groups=tuple(_group(vote, values) for vote, values in margins.items()),
        comparisons=_comparisons(margins),
    )


def _group(vote: str, values: list[float]) -> Group:
    curve, missing = None, None
    if len(values) < ENOUGH:
        missing = f"a density needs {ENOUGH} battles, and there {_are(len(values))}"
    elif np.ptp(values) < 1e-9 or (curve := density(values, np.array(GRID))) is None:
        missing = "all differences are the same"
    return Group(
        vote=vote,
        differences=tuple(values),
        mean=float(np.mean(values)),
        median=float(np.median(values)),
        density=None if curve is None else tuple(round(y, 5) for y in curve.tolist()),
        missing=missing,
    )


def _are(count: int) -> str:
    return f"is {count}" if count == 1 else f"are {count}"


def _comparisons(margins: Mapping[str, list[float]]) -> tuple[Comparison, ...]:
    large = {vote: values for vote, values in margins.items() if len(values) >= ENOUGH}
    tests = {(test.first, test.second): test for test in kolmogorov_smirnov(large)}
    adjusted = benjamini_hochberg({pair: test.p_value for pair, test in tests.items()})
    return tuple(
        Comparison(
            first=first,
            second=second,
            sizes=(len(margins[first]), len(margins[second])),
            statistic=tests[first, second].distance if (first, second) in tests else None,
            p=tests[first, second].p_value if (first, second) in tests else None,
            p_adjusted=adjusted.get((first, second)),
            missing=None if (first, second) in tests else f"each group needs at least {ENOUGH} battles",
        )
        for first, second in combinations(margins, 2)
    )
