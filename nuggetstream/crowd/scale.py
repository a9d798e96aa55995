"""What the labels of a dimension are and how far apart they lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nuggetstream.crowd.votes import Crowd, CrowdVote
from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.statistics.krippendorff import Level

# What a choice between two answers is called, in the order from one to the other.
PREFERENCES = {"a": Vote.A, "n": Vote.TIE, "tie": Vote.TIE, "b": Vote.B}


class NoOrder(ValueError):
    """Distances between labels are asked for, and nobody said in which order they are."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person said about labels.

    Attributes:
        labels: dimension -> its labels in order; under "" those of every other dimension.
        level: None: ordinal where the order is known, nominal elsewhere.
    """

    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    level: Level | None = None

    def __post_init__(self) -> None:
        if short := [name for name, labels in self.labels.items() if len(set(labels)) < max(2, len(labels))]:
            raise NoOrder(f"--labels {short[0]}: expected at least two labels, each once")


@dataclass(frozen=True, slots=True)
class Scale:
    """The labels of one dimension.

    Attributes:
        labels: in order, where they have one.
        level: what distances mean.
        given: whether a person named the labels; else they are those that occur.
        preference: whether they choose between two answers.
    """

    labels: tuple[str, ...]
    level: Level
    given: bool
    preference: bool


def scaled(crowd: Crowd, asked: Asked) -> tuple[dict[str, Scale], dict[str, tuple[CrowdVote, ...]]]:
    """The scale of every dimension, and the votes in its spelling.

    Labels that differ from a named one only in case are that one; likewise a, n (or tie) and b.

    Raises:
        UnusableFile: naming file and line of a label that is not among those named.
        NoOrder: a level other than nominal for labels without an order.
    """
    if strangers := sorted(set(asked.labels) - set(crowd.dimensions) - {""}):
        there = ", ".join(crowd.dimensions)
        raise UnusableFile(f"{crowd.file}: {strangers[0]}: is no dimension; there is {there}")
    scales, votes = {}, {}
    for name, given in crowd.dimensions.items():
        named = asked.labels.get(name) or asked.labels.get("") or ()
        votes[name] = tuple(_spelt(given, named))
        scales[name] = _scale(name, [vote.label for vote in votes[name]], named, asked.level)
    return scales, votes


def _spelt(votes: Sequence[CrowdVote], named: Sequence[str]) -> list[CrowdVote]:
    known = {label.casefold(): label for label in named or PREFERENCES}
    found = []
    for vote in votes:
        label = vote.label if vote.label in named else known.get(vote.label.casefold())
        if label is None and named:
            expected = ", ".join(named)
            raise UnusableFile(f"{vote.place}: label: is {vote.label!r}; expected one of {expected}")
        found.append(vote if label is None else replace(vote, label=label))
    # Only a whole dimension of a, n and b is a choice between two; grades A to F keep their spelling.
    return found if named or {vote.label for vote in found} <= PREFERENCES.keys() else list(votes)


def _scale(dimension: str, used: Sequence[str], named: tuple[str, ...], level: Level | None) -> Scale:
    there = set(used)
    order = named or _order(there)
    if order is None and level not in (None, Level.NOMINAL):
        raise NoOrder(f"{dimension}: level {level}: name the labels in their order with --labels")
    usual = Level.NOMINAL if order is None else Level.ORDINAL
    return Scale(
        labels=order or tuple(dict.fromkeys(used)),
        level=level or usual,
        given=bool(named),
        preference=there <= PREFERENCES.keys() and set(order or ()) <= PREFERENCES.keys(),
    )


def _order(labels: set[str]) -> tuple[str, ...] | None:
    """The labels in order where it goes without saying: numbers, and a, n, b."""
    if labels <= PREFERENCES.keys():
        return tuple(label for label in PREFERENCES if label in labels)
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return None
