"""Which labels a dimension has, and what the distance between them means."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.domain.pair_label import PREFERENCES
from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.statistics.krippendorff import Level

_TIES = ("n", "tie")
NO_PREFERENCE = "labels do not choose between two answers (a, n, b)"


class UnusableLabels(ValueError):
    """Labels cannot be used: an unknown label or dimension, a missing order, or a repetition."""


@dataclass(frozen=True, slots=True)
class ScaleOptions:
    """What is known about labels beforehand.

    Attributes:
        labels: Dimension -> its labels in ascending order; under "" those of every other dimension.
        level: Level of all dimensions. None is ordinal where the order of the labels is known, else nominal.
    """

    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    level: Level | None = None

    def __post_init__(self) -> None:
        if short := [name for name, labels in self.labels.items() if len(set(labels)) < max(2, len(labels))]:
            raise UnusableLabels(f"--labels {short[0]}: expected at least two labels, each once")


@dataclass(frozen=True, slots=True)
class LabelScale:
    """The labels of one dimension.

    Attributes:
        labels: Every label, in ascending order where an order is known.
        level: What the distance between two labels means.
        given: Whether the options name the labels; otherwise they are those that occur.
        preference: Whether the labels choose between two answers.
    """

    labels: tuple[str, ...]
    level: Level
    given: bool
    preference: bool


def scale_labels(
    dimensions: Mapping[str, Sequence[WorkerLabel]], options: ScaleOptions
) -> tuple[dict[str, LabelScale], dict[str, tuple[WorkerLabel, ...]]]:
    """The scale of every dimension, and its labels in the spelling of the scale.

    A label that differs from a named label only in case is that label. Labels of a choice between two answers
    are a, n and b, in whatever case they are written or named; "tie" is n where both occur.

    Args:
        dimensions: Dimension -> labels, at least one.
        options: What is known about the labels.

    Raises:
        UnusableLabels: A label is not among those named, a named dimension does not exist, a level other
            than nominal is asked of labels without a known order, the interval or ratio level of labels that
            are no numbers, or the ratio level of numbers below 0.
    """
    if unknown := sorted(set(options.labels) - set(dimensions) - {""}):
        raise UnusableLabels(f"--labels {unknown[0]}: is no dimension; there is {', '.join(dimensions)}")
    scales, spelt = {}, {}
    for name, labels in dimensions.items():
        named = options.labels.get(name) or options.labels.get("") or ()
        if {label.label.casefold() for label in labels} <= PREFERENCES.keys():
            named = _as_preferences(named)
        spelt[name] = tuple(_spelt(labels, named))
        used = dict.fromkeys(label.label for label in spelt[name])
        scales[name] = _scale(name, tuple(used), named, options.level)
    return scales, spelt


def _as_preferences(named: tuple[str, ...]) -> tuple[str, ...]:
    """Named labels, those of a choice between two answers in their usual spelling."""
    letters = tuple(label.casefold() for label in named)
    distinct = len({PREFERENCES.get(letter) for letter in letters}) == len(letters)
    return letters if distinct and set(letters) <= PREFERENCES.keys() else named


def _spelt(labels: Sequence[WorkerLabel], named: Sequence[str]) -> list[WorkerLabel]:
    spelling_of = {label.casefold(): label for label in named or PREFERENCES}
    tie, other = _TIES if "n" in (named or {label.label.casefold() for label in labels}) else _TIES[::-1]
    if tie in spelling_of:
        spelling_of[other] = tie
    spelt = []
    for label in labels:
        spelling = label.label if label.label in named else spelling_of.get(label.label.casefold())
        if spelling is None and named:
            expected = ", ".join(named)
            raise UnusableLabels(f"{label.origin}: label: is {label.label!r}; expected one of {expected}")
        spelt.append(label if spelling is None else replace(label, label=spelling))
    # Only a dimension that consists of a, n and b is a choice between two; grades A to F keep their spelling.
    return spelt if named or {label.label for label in spelt} <= PREFERENCES.keys() else list(labels)


def _scale(dimension: str, used: tuple[str, ...], named: tuple[str, ...], level: Level | None) -> LabelScale:
    order = named or _known_order(set(used))
    if order is None and level not in (None, Level.NOMINAL):
        raise UnusableLabels(f"{dimension}: level {level}: name the labels in their order with --labels")
    numeric = level is not None and level.is_numeric
    if numeric and (words := [label for label in order or () if not _is_number(label)]):
        raise UnusableLabels(f"{dimension}: level {level}: {words[0]!r} is no number, so it has no distance")
    if level is Level.RATIO and (below := [label for label in order or () if float(label) < 0]):
        raise UnusableLabels(f"{dimension}: level {level}: {below[0]!r} is below 0")
    if order is None and level is None and (numbers := [label for label in used if _is_number(label)]):
        word = next(label for label in used if not _is_number(label))
        raise UnusableLabels(
            f"{dimension}: {word!r} is no number beside {numbers[0]!r}, so the labels have no known order; "
            "leave it out with --missing, name every label in order with --labels, or choose --level nominal"
        )
    usual = Level.NOMINAL if order is None else Level.ORDINAL
    return LabelScale(
        labels=order or used,
        level=level or usual,
        given=bool(named),
        preference={*used, *(order or ())} <= PREFERENCES.keys(),
    )


def _known_order(labels: set[str]) -> tuple[str, ...] | None:
    """The labels in ascending order where it needs no explanation: numbers, and a, n, b."""
    if labels <= PREFERENCES.keys():
        return tuple(label for label in PREFERENCES if label in labels)
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return None


def _is_number(label: str) -> bool:
    try:
        return math.isfinite(float(label))
    except ValueError:
        return False
