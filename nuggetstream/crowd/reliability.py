"""Krippendorff's alpha of labels, or the reason why it has no value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from nuggetstream.crowd.scale import LabelScale
from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.statistics.krippendorff import alpha, alpha_of_numbers


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of a number of labels.

    Attributes:
        value: At most 1, 0 is chance; None when it is undefined.
        votes: Number of labels.
        missing: Why the value is undefined; None when it is defined.
    """

    value: float | None
    votes: int
    missing: str | None = None


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
