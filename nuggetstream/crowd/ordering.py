"""Whether workers agree less when a pair is turned round, or late in their session."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.crowd.reliability import Alpha, alpha_of, why_none
from nuggetstream.crowd.scale import PREFERENCES, Scale
from nuggetstream.crowd.votes import CrowdVote
from nuggetstream.statistics.order_effects import order_effect

Votes = Sequence[CrowdVote]
_OTHER_SIDE = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class Effect:
    """Agreement of two groups of votes and of both together.

    Attributes:
        groups: "forward" and "backward", or "early" and "late" -> alpha.
        pooled: of the votes of both.
        delta: largest |pooled - group|; None where one of them has no answer.
        missing: why there is no delta.
    """

    groups: Mapping[str, Alpha]
    pooled: Alpha
    delta: float | None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Sessions:
    """Places of items in the sessions of their workers.

    Attributes:
        first: the lowest.
        middle: the last of the first half.
        last: the highest.
    """

    first: int
    middle: int
    last: int


@dataclass(frozen=True, slots=True)
class Sides:
    """Pairs of answers by how they were shown, and what that changes.

    Attributes:
        pairs: how many there are.
        both: how many of them were shown both ways round; only these count.
        effect: forward is the alphabetical order of the two answers.
    """

    pairs: int
    both: int
    effect: Effect


def by_side(votes: Votes, scale: Scale) -> Sides | None:
    """Does agreement change with the side an answer is shown on? None where no sides are known.

    Votes on a pair shown backward are turned, so that both ways round speak about the same order; then
    "together" asks whether workers prefer the same answer whichever side it is on.
    """
    shown: dict[str, set[bool]] = {}
    for vote in votes:
        if vote.showing:
            shown.setdefault(vote.showing.pair, set()).add(vote.showing.turned)
    if not shown:
        return None
    both = {pair for pair, ways in shown.items() if len(ways) == 2}
    ways: dict[str, list[CrowdVote]] = {"forward": [], "backward": []}
    for vote in votes:
        if vote.showing and vote.showing.pair in both:
            ways["backward" if vote.showing.turned else "forward"].append(_facing(vote))
    if not scale.preference:
        effect = _no_answer(ways, "labels do not choose between two answers (a, n, b)")
    elif not both:
        effect = _no_answer(ways, "no pair was shown both ways round")
    else:
        effect = _effect(ways, _both_ways(scale))
    return Sides(len(shown), len(both), effect)


def by_place(votes: Votes, scale: Scale, sessions: Sessions | None) -> Effect | None:
    """Does agreement change along the session? None where no vote has a place."""
    if sessions is None:
        return None
    placed = [(vote, vote.turn) for vote in votes if vote.turn is not None]
    early = [vote for vote, turn in placed if turn <= sessions.middle]
    late = [vote for vote, turn in placed if turn > sessions.middle]
    return _effect({"early": early, "late": late}, scale)


def sessions_of(votes: Iterable[CrowdVote]) -> Sessions | None:
    """The places there are, cut in the middle between the lowest and the highest; None without any."""
    turns = [vote.turn for vote in votes if vote.turn is not None]
    if not turns:
        return None
    first, last = min(turns), max(turns)
    return Sessions(first, (first + last) // 2, last)


def _effect(groups: Mapping[str, Votes], scale: Scale) -> Effect:
    pooled = [vote for votes in groups.values() for vote in votes]
    found = order_effect(groups, pooled, lambda votes: alpha_of(votes, scale).value)
    alphas = {name: Alpha(found.groups[name], len(votes), why_none(votes)) for name, votes in groups.items()}
    missing = (f"{name}: {each.missing}" for name, each in alphas.items() if each.missing)
    return Effect(
        groups=alphas,
        pooled=Alpha(found.pooled, len(pooled), why_none(pooled)),
        delta=found.delta,
        missing=next(missing, None),
    )


def _no_answer(groups: Mapping[str, Votes], why: str) -> Effect:
    alphas = {name: Alpha(None, len(votes), why) for name, votes in groups.items()}
    return Effect(alphas, Alpha(None, sum(map(len, groups.values())), why), None, why)


def _facing(vote: CrowdVote) -> CrowdVote:
    """A vote about the pair in alphabetical order."""
    if vote.showing is None:
        return vote
    label = _OTHER_SIDE.get(vote.label, vote.label) if vote.showing.turned else vote.label
    return replace(vote, item=vote.showing.pair, label=label)


def _both_ways(scale: Scale) -> Scale:
    """The scale with both answers as labels: where only A was chosen, a turned vote is for B."""
    there = {*scale.labels, *_OTHER_SIDE}
    return replace(scale, labels=tuple(label for label in PREFERENCES if label in there))
