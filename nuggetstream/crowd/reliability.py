"""Krippendorff's alpha of labels, or the reason why it has no value."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from nuggetstream.crowd.scale import LabelScale
from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.statistics.krippendorff import alpha, alpha_interval, alpha_of_numbers


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of a number of labels.

    Attributes:
        value: At most 1, 0 is chance; None when it is undefined.
        votes: Number of labels.
        missing: Why the value is undefined; None when it is defined.
        low: Lower bound of its 95% interval, drawing items again; None where there is none.
        high: Upper bound, at most 1.
    """

    value: float | None
    votes: int
    missing: str | None = None
    low: float | None = None
    high: float | None = None


def alpha_of(labels: Sequence[WorkerLabel], scale: LabelScale) -> Alpha:
    """Krippendorff's alpha of the labels that workers gave to items.

    Args:
        labels: Labels of one dimension, no worker twice on an item.
        scale: Values and level of the labels. At the interval and ratio levels two labels are as far apart
            as the numbers they are, as `scale_labels` requires.
    """
    missing = why_no_alpha(labels)
    if missing is not None:
        return Alpha(None, len(labels), missing)
    units = _units(labels)
    if not scale.level.is_numeric:
        return Alpha(alpha(units, scale.labels, scale.level), len(labels))
    return Alpha(alpha_of_numbers([list(map(float, unit)) for unit in units], scale.level), len(labels))


def alpha_with_interval(labels: Sequence[WorkerLabel], scale: LabelScale, rng: np.random.Generator) -> Alpha:
    """Krippendorff's alpha with its 95% interval, drawing items again with all their labels.

    Args:
        labels: As `alpha_of`.
        scale: Values and level of the labels.
        rng: Source of randomness.
    """
    found = alpha_of(labels, scale)
    if found.missing is not None:
        return found
    units: list[list[str]] | list[list[float]] = _units(labels)
    domain: Sequence[Hashable] = scale.labels
    if scale.level.is_numeric:
        units = [list(map(float, unit)) for unit in units]
        domain = sorted({value for unit in units for value in unit})
    ends = alpha_interval(units, domain, scale.level, range(len(units)), rng)
    return found if ends is None else replace(found, low=ends[0], high=ends[1])


def why_no_alpha(labels: Sequence[WorkerLabel]) -> str | None:
    """Why labels have no alpha; None where they have one."""
    pairable = [unit for unit in _units(labels) if len(unit) > 1]
    if not pairable:
        return "no item has two votes"
    if len({value for unit in pairable for value in unit}) < 2:
        return "one label only: nothing could have disagreed"
    return None


def _units(labels: Sequence[WorkerLabel]) -> list[list[str]]:
    """The labels of every item."""
    units: dict[str, list[str]] = {}
    for label in labels:
        units.setdefault(label.item, []).append(label.label)
    return list(units.values())


def mean(by_dimension: Mapping[str, float | None]) -> float | None:
    """Plain mean over the dimensions; None when one of them is undefined or there is no dimension.

    >>> mean({"depth": 0.2, "style": 0.4}), mean({"depth": 0.2, "style": None})
    (0.30000000000000004, None)
    """
    present = [value for value in by_dimension.values() if value is not None]
    return fsum(present) / len(present) if present and len(present) == len(by_dimension) else None
