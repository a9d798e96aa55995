"""Krippendorff's alpha: do raters agree beyond chance, however many of them rated each item?

    α = 1 - D_observed / D_expected

The package krippendorff computes it; this module decides when there is an answer at all.

Source: Krippendorff, "Content Analysis", 2004.
"""

import warnings
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import krippendorff
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nuggetstream.domain.inputs import is_finite_number, is_missing, marks_in, marks_said
from nuggetstream.statistics.cluster_bootstrap import bounds

Floats = NDArray[np.float64]
Value = TypeVar("Value", bound=Hashable)


class Level(StrEnum):
    """What the distance between two values means."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RATIO = "ratio"

    @property
    def is_numeric(self) -> bool:
        """Whether the distance is computed from the values themselves, so that these must be numbers."""
        return self in (Level.INTERVAL, Level.RATIO)


def alpha_of_ratings(
    values: ArrayLike, level: Level | str = Level.ORDINAL, domain: Sequence[Hashable] | None = None
) -> float | None:
    """Krippendorff's alpha of a table of ratings.

    Args:
        values: (raters, items) numbers or texts; None, NaN and NA of pandas mean that the rater did not rate
            the item, and so does a text such as "NA" where all others are numbers or in the domain, of which
            a warning says how many there are. Nested lists, arrays and data frames are accepted.
        level: "nominal", "ordinal", "interval" or "ratio".
        domain: Every possible value, in ascending order unless the level is nominal. None takes the values
            that occur, numbers in ascending order. A value of the domain that nobody uses changes nothing.

    Returns:
        At most 1, higher is better; 0 is chance, below 0 raters disagree systematically. None when no item
        has two ratings, or all ratings of such items are the same, so that nothing could have disagreed.

    Raises:
        ValueError: The values form no table, the level is unknown, a value is outside the domain, the order
            of texts is needed and not given, an interval or ratio level is asked of texts, or a ratio level
            of numbers below 0.

    Source: Krippendorff, "Content Analysis", 2004.

    >>> round(alpha_of_ratings([[1, 2, 3, None], [1, 2, 2, 3]]), 3)
    0.778
    """
    level = Level(level)
    units, ordered = _read(values, level, domain)
    if domain is None and len(ordered) < 2:
        return None
    return _alpha(value_counts(units, ordered), level, ordered if level.is_numeric else None)


def interval_of_ratings(
    values: ArrayLike,
    level: Level | str,
    domain: Sequence[Hashable] | None,
    clusters: Sequence[Hashable] | None,
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Interval of the alpha of a table of ratings.

    Args:
        values, level, domain: As `alpha_of_ratings` takes them.
        clusters: Name of the cluster of each item; None where each stands alone.
        rng: Source of randomness.
        confidence: Level of the interval, in (0, 1).

    Returns:
        As `alpha_interval`.

    Raises:
        ValueError: As `alpha_of_ratings`, or there is not one cluster per item.
    """
    level = Level(level)
    units, ordered = _read(values, level, domain)
    if clusters is not None and len(clusters) != len(units):
        raise ValueError(f"there are {len(clusters)} clusters for {len(units)} items")
    if len(ordered) < 2:
        return None
    names = range(len(units)) if clusters is None else clusters
    return alpha_interval(units, ordered, level, names, rng, confidence=confidence)


def _read(
    values: ArrayLike, level: Level, domain: Sequence[Hashable] | None
) -> tuple[list[list[Hashable]], list[Hashable]]:
    """Ratings of every item, and all values in order."""
    table = np.asarray(values, dtype=object)
    if table.ndim != 2:
        raise ValueError(f"ratings must form a table of raters and items; their shape is {table.shape}")
    units = _units(table.T.tolist(), frozenset(map(str, domain or ())))
    used = list(dict.fromkeys(value for unit in units for value in unit))
    ordered = _in_order(used, level) if domain is None else list(domain)
    if level.is_numeric and len(ordered) > 1 and not _are_numbers(ordered):
        raise ValueError(f"the level {level} needs numbers")
    return units, ordered


def alpha(
    units: Iterable[Sequence[Value]], domain: Sequence[Value], level: Level = Level.ORDINAL
) -> float | None:
    """Krippendorff's alpha of items, each with the values that raters gave it.

    Args:
        units: Values of each item, in any order; a rater who skipped the item adds no value. Items with fewer
            than two values cannot agree or disagree and do not count.
        domain: Every possible value, in ascending order unless the level is nominal. At the interval
            and ratio levels the distance between two values is that of their positions in the domain;
            `alpha_of_numbers` has that of their numbers.
        level: What the distance between two values means.

    Returns:
        At most 1, higher is better; 0 is chance, and below 0 raters disagree systematically. None when no
        item has two values, or when all values of such items are the same, so that nothing could have
        disagreed.

    Raises:
        ValueError: A value is outside the domain, or the domain has fewer than two values.

    >>> round(alpha([["a", "a"], ["b", "b"], ["a", "b"]], ["a", "b"]), 3)
    0.444
    """
    return _alpha(value_counts(units, domain), level, None)


def alpha_of_numbers(units: Sequence[Sequence[float]], level: Level = Level.INTERVAL) -> float | None:
    """Krippendorff's alpha at the interval or ratio level: values are as far apart as their numbers.

    Args:
        units: Numbers of each item, in any order; see `alpha`.
        level: With `Level.RATIO`, the squared distance of x and y is ((x - y) / (x + y))².

    Returns:
        As `alpha`.

    Raises:
        ValueError: A number is below 0 at the ratio level.

    >>> round(alpha_of_numbers([[1, 2], [2, 1], [1, 2], [90, 90], [1, 1], [2, 90]]), 3)
    0.598
    """
    numbers = sorted({value for unit in units for value in unit})
    return None if len(numbers) < 2 else _alpha(value_counts(units, numbers), level, numbers)


def alpha_interval(
    units: Sequence[Sequence[Value]],
    domain: Sequence[Value],
    level: Level,
    clusters: Sequence[Hashable],
    rng: np.random.Generator,
    *,
    confidence: float = 0.95,
) -> tuple[float, float] | None:
    """Interval of alpha, drawing whole clusters of items again.

    Args:
        units: Values of each item.
        domain: Every possible value, in ascending order unless the level is nominal; numbers at the interval
            and ratio levels.
        level: What the distance between two values means.
        clusters: Name of the cluster of each item, such as its query; the item's own where each stands alone.
        rng: Source of randomness.
        confidence: Level of the interval, in (0, 1).

    Returns:
        Lower and upper bound, at most 1; None where `cluster_bootstrap.bounds` has none.

    Source: Krippendorff, 2004; the interval: `cluster_bootstrap.bounds`.

    >>> units, rng = [["a", "a"], ["b", "b"]] * 2, np.random.default_rng(0)
    >>> alpha_interval(units, ["a", "b"], Level.NOMINAL, range(4), rng) is None
    True
    """
    size = len(domain)
    counts = value_counts(units, domain).astype(np.float64)
    raters = counts.sum(axis=1)
    pairable = np.flatnonzero(raters > 1)
    own = counts[pairable]
    met = own[:, :, None] * own[:, None, :] - own[:, :, None] * np.eye(size)
    met /= (raters[pairable] - 1)[:, None, None]
    distance = _distance(level, domain)
    return bounds(
        met.reshape(len(pairable), size * size),
        [clusters[index] for index in pairable.tolist()],
        lambda table: _alpha_of_coincidences(table.reshape(size, size), distance),
        rng,
        level=confidence,
    )


def _distance(level: Level, domain: Sequence[object]) -> Callable[[Floats], Floats]:
    """Squared distance of every two values, by how often each occurs."""
    if level is Level.ORDINAL:
        return _ordinal_distance
    if level is Level.NOMINAL:
        fixed = 1 - np.eye(len(domain))
    else:
        numbers = np.array(domain, dtype=np.float64)
        fixed = (numbers[:, None] - numbers) ** 2
        if level is Level.RATIO:
            total = (numbers[:, None] + numbers) ** 2
            fixed = np.divide(fixed, total, out=np.zeros_like(fixed), where=total > 0)
    return lambda _: fixed


def _ordinal_distance(often: Floats) -> Floats:
    """(Σ of the values from one to the other, each end half)²."""
    middle = np.cumsum(often) - often / 2
    return (middle[:, None] - middle) ** 2


def _alpha_of_coincidences(met: Floats, distance: Callable[[Floats], Floats]) -> float | None:
    """1 - (n - 1) Σ met · δ² / Σ n n · δ², with n how often each value occurs."""
    often = met.sum(axis=0)
    apart = distance(often)
    expected = float((np.outer(often, often) * apart).sum())
    return None if expected <= 0 else 1 - float((often.sum() - 1) * (met * apart).sum() / expected)


def value_counts(units: Iterable[Sequence[Value]], domain: Sequence[Value]) -> NDArray[np.int_]:
    """(items, values) number of raters who gave each item each value of the domain.

    Raises:
        ValueError: As `alpha`.
    """
    index_of = {value: index for index, value in enumerate(domain)}
    if len(index_of) < 2:
        raise ValueError("a domain has at least two values")
    rows = []
    for unit in units:
        if foreign := [value for value in unit if value not in index_of]:
            raise ValueError(f"{foreign[0]!r} is not in the domain")
        rows.append(np.bincount([index_of[value] for value in unit], minlength=len(index_of)))
    return np.array(rows, dtype=np.int_).reshape(len(rows), len(index_of))


def _alpha(counts: NDArray[np.int_], level: Level, numbers: Sequence[object] | None) -> float | None:
    pairable = counts[counts.sum(axis=1) > 1]
    if not len(pairable) or (pairable.sum(axis=0) > 0).sum() < 2:
        return None
    domain = None if numbers is None else np.array(numbers, dtype=np.float64)
    if level is Level.RATIO and domain is not None and domain.min() < 0:
        raise ValueError(f"the level ratio needs numbers from 0 on; there is {domain.min():g}")
    return float(
        krippendorff.alpha(value_counts=pairable, value_domain=domain, level_of_measurement=level.value)
    )


def _in_order(used: list[Hashable], level: Level) -> list[Hashable]:
    if _are_numbers(used):
        return sorted(used)  # type: ignore[type-var]  # checked to be numbers
    if level is Level.ORDINAL and len(used) > 1:
        raise ValueError("the order of texts is not known: name every value in ascending order as domain")
    return used


def _are_numbers(values: Iterable[object]) -> bool:
    return all(isinstance(value, int | float | np.number) for value in values)


def _units(items: Sequence[Sequence[Any]], domain: Collection[str]) -> list[list[Any]]:
    """The values of each item that are there; texts that are numbers are numbers where all values are."""
    units = [[value for value in item if not is_missing(value)] for item in items]
    values = [value for unit in units for value in unit]
    if not any(isinstance(value, str) for value in values):
        return units
    marks = marks_in(values, lambda text: text in domain or is_finite_number(text))
    if marks:
        warnings.warn(marks_said("ratings", marks), stacklevel=4)
        units = [[value for value in unit if str(value).strip() not in marks] for unit in units]
    if domain or not all(is_finite_number(str(value)) for unit in units for value in unit):
        return units
    return [[float(value) for value in unit] for unit in units]
