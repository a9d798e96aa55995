"""Krippendorff's alpha: do raters agree beyond chance, however many of them rated each item?

    α = 1 - D_observed / D_expected

The package krippendorff computes it; this module decides when there is an answer at all.

Source: Krippendorff, "Content Analysis", 2004.
"""

import warnings
from collections.abc import Collection, Hashable, Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

import krippendorff
import numpy as np
from numpy.typing import ArrayLike, NDArray

from nuggetstream.domain.inputs import is_finite_number, is_missing, marks_in, marks_said

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
        At most 1, higher is better; 0 is chance, and below 0 raters disagree systematically. None when no
        item has two ratings, or when all ratings of such items are the same, so that nothing could have
        disagreed.

    Raises:
        ValueError: The values form no table, the level is unknown, a value is outside the domain, the order
            of texts is needed and not given, an interval or ratio level is asked of texts, or a ratio level
            of numbers below 0.

    Source: Krippendorff, "Content Analysis", 2004.

    >>> round(alpha_of_ratings([[1, 2, 3, None], [1, 2, 2, 3]]), 3)
    0.778
    """
    table = np.asarray(values, dtype=object)
    if table.ndim != 2:
        raise ValueError(f"ratings must form a table of raters and items; their shape is {table.shape}")
    level = Level(level)
    units = _units(table.T.tolist(), frozenset(map(str, domain or ())))
    used = list(dict.fromkeys(value for unit in units for value in unit))
    ordered = _in_order(used, level) if domain is None else list(domain)
    if domain is None and len(ordered) < 2:
        return None
    if level.is_numeric and not _are_numbers(ordered):
        raise ValueError(f"the level {level} needs numbers")
    return _alpha(value_counts(units, ordered), level, ordered if level.is_numeric else None)


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
