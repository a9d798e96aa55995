"""Score differences, by what people said."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from nuggetstream.domain.battle import Vote
from nuggetstream.report.rows import Results
from nuggetstream.statistics.distributions import density, kolmogorov_smirnov
from nuggetstream.statistics.paired import benjamini_hochberg

ENOUGH = 5  # values; a density or a test of fewer would be a picture of nothing
GRID = tuple(round(float(x), 2) for x in np.linspace(-1, 1, 201))


@dataclass(frozen=True, slots=True)
class Group:
    """The differences of the battles with one vote.

    Attributes:
        differences: All Score of A minus that of B, in [-1, 1].
        density: at `GRID`; None where it cannot be drawn.
        missing: why not.
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
        statistic: largest distance between the distribution functions, in [0, 1]; None without a test.
        p: that two samples of one distribution lie this far apart.
        p_adjusted: after Benjamini-Hochberg over the tests of the dimension.
        missing: why there is no test.
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
        compared: labelled battles that have nugget scores.
        labelled: battles with this dimension.
        received: all battles.
    """

    dimension: str
    compared: int
    labelled: int
    received: int
    groups: tuple[Group, ...]
    comparisons: tuple[Comparison, ...]


def compute(results: Results) -> tuple[Differences, ...]:
    """Densities and tests per human dimension."""
    return tuple(_dimension(results, name) for name in results.dimensions)


def _dimension(results: Results, dimension: str) -> Differences:
    by_vote: dict[str, list[float]] = {vote.value: [] for vote in (Vote.A, Vote.TIE, Vote.B, Vote.BOTH_BAD)}
    labelled = 0
    for row, battle in zip(results.rows, results.battles, strict=True):
        if (vote := battle.reference.get(dimension)) is None:
            continue
        labelled += 1
        if row.nugget_verdict is not None:
            by_vote[vote.value].append(row.nugget_verdict.margin)
    known = {vote: values for vote, values in by_vote.items() if values}
    groups = tuple(_group(vote, values) for vote, values in known.items())
    compared = sum(map(len, known.values()))
    return Differences(dimension, compared, labelled, results.received, groups, _comparisons(known))


def _group(vote: str, values: list[float]) -> Group:
    curve, missing = None, None
    if len(values) < ENOUGH:
        missing = f"a density needs {ENOUGH} battles, here {len(values)}"
    elif np.ptp(values) < 1e-9 or (curve := density(values, np.array(GRID))) is None:
        missing = "all differences are the same"
    drawn = None if curve is None else tuple(round(y, 5) for y in curve.tolist())
    return Group(vote, tuple(values), float(np.mean(values)), float(np.median(values)), drawn, missing)


def _comparisons(known: Mapping[str, list[float]]) -> tuple[Comparison, ...]:
    tests = kolmogorov_smirnov({name: values for name, values in known.items() if len(values) >= ENOUGH})
    found = {(test.first, test.second): test for test in tests}
    adjusted = benjamini_hochberg({pair: test.p_value for pair, test in found.items()})
    return tuple(
        Comparison(
            first=x,
            second=y,
            sizes=(len(known[x]), len(known[y])),
            statistic=found[x, y].distance if (x, y) in found else None,
            p=found[x, y].p_value if (x, y) in found else None,
            p_adjusted=adjusted.get((x, y)),
            missing=None if (x, y) in found else f"a test needs at least {ENOUGH} battles in each group",
        )
        for x, y in combinations(known, 2)
    )
