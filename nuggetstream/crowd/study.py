"""Everything that a file of labels says: agreement, gold, competence, pairs that can be told apart."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nuggetstream.crowd.agreement import mean
from nuggetstream.crowd.differentiability import split_by_differentiability
from nuggetstream.crowd.learning import Learned, Method, learn
from nuggetstream.crowd.ordering import Effect, Sessions, Sides, by_place, by_side, sessions_of
from nuggetstream.crowd.reliability import Alpha, alpha_of
from nuggetstream.crowd.scale import PREFERENCES, Asked, Scale, scaled
from nuggetstream.crowd.votes import Columns, Crowd, CrowdVote, read_crowd

Votes = Sequence[CrowdVote]


@dataclass(frozen=True, slots=True)
class Dimension:
    """One dimension.

    Attributes:
        name: likewise.
        scale: its labels.
        votes: in the order of the file.
        items: how many.
        workers: how many.
        counts: label -> votes.
        agreement: of all votes.
        without_spam: of the votes whose worker is no likelier spam than the limit, by what the votes say
            themselves; None where competence has no answer.
        by_file: the same by the probabilities in the file; None where it has none.
        learned: gold labels and competence.
        sides: whether agreement changes with the side an answer is shown on; None where no sides are known.
        places: whether it changes along the session; None where no places are known.
    """

    name: str
    scale: Scale
    votes: tuple[CrowdVote, ...]
    items: int
    workers: int
    counts: Mapping[str, int]
    agreement: Alpha
    without_spam: Alpha | None
    by_file: Alpha | None
    learned: Learned
    sides: Sides | None
    places: Effect | None


@dataclass(frozen=True, slots=True)
class Half:
    """Pairs of one kind, and the mean alpha over all dimensions; None where one of them has no answer."""

    items: tuple[str, ...]
    agreement: float | None
    without_spam: float | None
    by_file: float | None


@dataclass(frozen=True, slots=True)
class Halves:
    """Pairs that people can tell apart and the others.

    Attributes:
        differentiable: likewise.
        minimal: the others.
        left_out: items with votes in too few dimensions.
        missing: why there is no split.
    """

    differentiable: Half | None = None
    minimal: Half | None = None
    left_out: int = 0
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        file: of labels.
        columns: of the file.
        asked: about its labels.
        method: of learning.
        needed: votes of one label that decide a dimension.
        decided: decided dimensions that make a pair differentiable.
    """

    file: Path
    columns: Columns = field(default_factory=Columns)
    asked: Asked = field(default_factory=Asked)
    method: Method = field(default_factory=Method)
    needed: int = 3
    decided: int = 5


@dataclass(frozen=True, slots=True)
class Study:
    """What was found.

    Attributes:
        question: likewise.
        crowd: the votes as read.
        dimensions: in the order of the file.
        halves: pairs that people can tell apart, and the others.
        sessions: places of items in them; None where none are known.
    """

    question: Question
    crowd: Crowd
    dimensions: tuple[Dimension, ...]
    halves: Halves
    sessions: Sessions | None


def study(question: Question) -> Study:
    """Read the file and answer.

    Raises:
        UnusableFile: naming file, line and field.
        NoOrder: ordinal distances for labels without an order.
    """
    crowd = read_crowd(question.file, question.columns)
    scales, votes = scaled(crowd, question.asked)
    sessions = sessions_of(vote for given in votes.values() for vote in given)
    dimensions = tuple(_dimension(name, scales[name], votes[name], question, sessions) for name in votes)
    return Study(question, crowd, dimensions, _halves(dimensions, question), sessions)


def mean_alpha(dimensions: Sequence[Dimension], kind: str) -> float | None:
    """Plain mean of one kind of alpha over all dimensions; None when one of them has no answer."""
    found = {each.name: getattr(each, kind) for each in dimensions}
    return mean({name: one.value if one else None for name, one in found.items()})


def _dimension(
    name: str, scale: Scale, votes: tuple[CrowdVote, ...], question: Question, sessions: Sessions | None
) -> Dimension:
    learned = learn(votes, scale.labels, question.method)
    known = [vote for vote in votes if vote.spam is not None]
    counts = Counter(vote.label for vote in votes)
    return Dimension(
        name=name,
        scale=scale,
        votes=votes,
        items=len({vote.item for vote in votes}),
        workers=len({vote.worker for vote in votes}),
        counts={label: counts[label] for label in scale.labels},
        agreement=alpha_of(votes, scale),
        without_spam=None if learned.missing else alpha_of(_trusted(votes, learned), scale),
        by_file=alpha_of(_kept(votes, question.method.limit), scale) if known else None,
        learned=learned,
        sides=by_side(votes, scale),
        places=by_place(votes, scale, sessions),
    )


def _trusted(votes: Votes, learned: Learned) -> list[CrowdVote]:
    kept = {worker.worker for worker in learned.workers if worker.kept}
    return [vote for vote in votes if vote.worker in kept]


def _kept(votes: Votes, limit: float) -> list[CrowdVote]:
    return [vote for vote in votes if vote.spam is None or vote.spam <= limit]


def _halves(dimensions: Sequence[Dimension], question: Question) -> Halves:
    if not all(each.scale.preference for each in dimensions):
        return Halves(missing="labels do not choose between two answers (a, n, b)")
    if len(dimensions) < question.decided:
        return Halves(missing=f"{len(dimensions)} of the {question.decided} dimensions that must be decided")
    said: dict[str, dict[str, list[str]]] = {}
    for each in dimensions:
        for vote in each.votes:
            said.setdefault(vote.item, {}).setdefault(each.name, []).append(vote.label)
    enough = {
        item: {name: [PREFERENCES[label] for label in labels] for name, labels in votes.items()}
        for item, votes in said.items()
        if len(votes) >= question.decided
    }
    if not enough:
        return Halves(left_out=len(said), missing=f"no item has votes in {question.decided} dimensions")
    split = split_by_differentiability(enough, needed=question.needed, dimensions=question.decided)
    differentiable, minimal = (
        _half(items, dimensions, question.method.limit)
        for items in (split.differentiable, split.minimally_differentiable)
    )
    return Halves(differentiable, minimal, len(said) - len(enough))


def _half(items: tuple[str, ...], dimensions: Sequence[Dimension], limit: float) -> Half:
    chosen = frozenset(items)
    found: dict[str, dict[str, float | None]] = {"agreement": {}, "without_spam": {}, "by_file": {}}
    for each in dimensions:
        votes = [vote for vote in each.votes if vote.item in chosen]
        kinds = {
            "agreement": votes,
            "without_spam": _trusted(votes, each.learned) if each.without_spam else [],
            "by_file": _kept(votes, limit) if each.by_file else [],
        }
        for kind, kept in kinds.items():
            found[kind][each.name] = alpha_of(kept, each.scale).value
    return Half(items, **{kind: mean(values) for kind, values in found.items()})
