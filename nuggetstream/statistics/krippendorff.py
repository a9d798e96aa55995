"""Krippendorff's alpha: do coders agree beyond chance, however many of them looked at each unit?

    α = 1 - D_observed / D_expected

The arithmetic is the krippendorff package's; this module says what counts as an answer.

Source: Krippendorff, "Content Analysis", 2004.
"""

from collections.abc import Hashable, Iterable, Sequence
from enum import StrEnum
from typing import TypeVar

import krippendorff
import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", bound=Hashable)


class Level(StrEnum):
    """What distances between values mean."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"


def alpha(
    units: Iterable[Sequence[Value]], domain: Sequence[Value], level: Level = Level.ORDINAL
) -> float | None:
    """Alpha of units, each with the values that coders gave it.

    Args:
        units: values per unit, in any order; a coder who said nothing is simply not there. Units with
            fewer than two values cannot agree or disagree and count for nothing.
        domain: every possible value; ascending where the level has an order. Interval distances are
            those of the places in the domain.
        level: ordinal unless said otherwise.

    Returns:
        At most 1; 0 is chance, below 0 systematic disagreement. None when no unit has two values, or
        when all pairable values are the same: nothing could have disagreed.

    Raises:
        ValueError: a value outside the domain, or a domain of fewer than two values.

    >>> round(alpha([["a", "a"], ["b", "b"], ["a", "b"]], ["a", "b"]), 3)
    0.444
    """
    counts = value_counts(units, domain)
    pairable = counts[counts.sum(axis=1) > 1]
    if not len(pairable) or (pairable.sum(axis=0) > 0).sum() < 2:
        return None
    return float(krippendorff.alpha(value_counts=pairable, level_of_measurement=level.value))


def value_counts(units: Iterable[Sequence[Value]], domain: Sequence[Value]) -> NDArray[np.int_]:
    """(units, values) how many coders gave each unit each value of the domain.

    Raises:
        ValueError: as `alpha`.
    """
    place = {value: index for index, value in enumerate(domain)}
    if len(place) < 2:
        raise ValueError("a domain has at least two values")
    rows = []
    for unit in units:
        if foreign := [value for value in unit if value not in place]:
            raise ValueError(f"{foreign[0]!r} is not in the domain")
        rows.append(np.bincount([place[value] for value in unit], minlength=len(place)))
    return np.array(rows, dtype=np.int_).reshape(len(rows), len(place))
