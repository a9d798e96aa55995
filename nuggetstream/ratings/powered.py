"""A few human votes beside many automatic ones: each alone, and what both say together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import UnusableFile
from nuggetstream.files.votes import CastVote, VoteSource
from nuggetstream.ratings import prediction_powered
from nuggetstream.ratings.ballots import POINTS
from nuggetstream.ratings.board import Method, anchor_place
from nuggetstream.ratings.interval import Interval, interval
from nuggetstream.ratings.prediction_powered import Fitted, Judged, TooFewVotes
from nuggetstream.ratings.sandwich import normal_ratings
from nuggetstream.ratings.tally import TiePolicy, Unrankable, rankable

Floats = NDArray[np.float64]

_STILL = 1e-9  # of a share


class NothingShared(UnusableFile):
    """No battle has both a human and an automatic vote."""


@dataclass(frozen=True, slots=True)
class Value:
    """An estimate with its interval."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Three:
    """The same quantity by people alone, by the automatic votes alone, and by both together.

    Attributes:
        human: None where it has no answer; likewise the others.
        trust: how much of the automatic votes went into the combination, in [0, 1].
        humans: battles with both votes.
        automatics: battles with an automatic vote only.
        missing: why there is no answer at all; None where there is one.
    """

    human: Value | None
    automatic: Value | None
    combined: Value | None
    trust: float | None
    humans: int
    automatics: int
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Powered:
    """Prediction-powered win rates and ratings.

    Attributes:
        rates: share of the points per system, in [0, 1], best first.
        ratings: Elo scale per system, best first.
        humans: battles with both votes.
        automatics: battles with an automatic vote only.
        unmatched: battles with a human vote only; they are left out.
        notes: what has no answer, and why.
    """

    rates: Mapping[str, Three]
    ratings: Mapping[str, Three]
    humans: int
    automatics: int
    unmatched: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Battle:
    """Mean points of the system that comes first by name."""

    first: str
    second: str
    points: float


def power(human: VoteSource, automatic: VoteSource, method: Method) -> Powered:
    """Win rates and ratings from both kinds of votes, matched by battle.

    Several votes on one battle become its mean points, by their weights. Ties are half a point, or left
    out as the policy says.

    Args:
        human: on a random sample of the battles.
        automatic: on all of them.
        method: policy, level and anchor.

    Raises:
        UnusableFile: the same battle is one of other systems elsewhere.
        NothingShared: no battle has both votes.
        ValueError: a policy that models ties.
        AnchorNotRanked: the anchor has no rating.
    """
    if method.policy.models_ties:
        raise ValueError(f"prediction-powered ratings count a tie as half or not at all; not {method.policy}")
    seen: dict[str, CastVote] = {}
    people, judge = (_battles(source.votes, method.policy, seen) for source in (human, automatic))
    both = sorted(people.keys() & judge.keys())
    if not both:
        raise NothingShared(
            f"{human.file}: no battle here is in {automatic.file} under the same id; is --battle right?"
        )
    pairs = [(people[name], judge[name]) for name in both]
    further = [judge[name] for name in sorted(judge.keys() - people.keys())]
    systems = sorted({name for battle in judge.values() for name in (battle.first, battle.second)})
    rates = {name: _rate(name, pairs, further, method.level) for name in systems}
    ratings, notes = _ratings(rates, pairs, further, method)
    rates, ratings = _best_first(rates), _best_first(ratings)
    return Powered(rates, ratings, len(both), len(further), len(people) - len(both), notes)


def _best_first(found: Mapping[str, Three]) -> dict[str, Three]:
    """By the best estimate there is; those without any at the end."""

    def height(three: Three) -> float:
        best = three.combined or three.human or three.automatic
        return -np.inf if best is None else best.value

    return dict(sorted(found.items(), key=lambda pair: -height(pair[1])))


def _battles(votes: Iterable[CastVote], policy: TiePolicy, seen: dict[str, CastVote]) -> dict[str, _Battle]:
    total: dict[str, list[float]] = {}
    for vote in votes:
        assert vote.battle is not None  # noqa: S101 - the reader asks for it
        met = seen.setdefault(vote.battle, vote)
        if {met.system_a, met.system_b} != {vote.system_a, vote.system_b}:
            raise UnusableFile(
                f"{vote.place}: battle {vote.battle!r} is {vote.system_a} against {vote.system_b} here and "
                f"{met.system_a} against {met.system_b} at {met.place}"
            )
        amount = vote.weight * vote.count
        if not amount or not _counts(vote.outcome, policy):
            continue
        points = POINTS[vote.outcome] if isinstance(vote.outcome, Vote) else vote.outcome
        sums = total.setdefault(vote.battle, [0.0, 0.0])
        sums[0] += amount * (points if vote.system_a < vote.system_b else 1 - points)
        sums[1] += amount
    found = {}
    for name, (points, amount) in total.items():
        first, second = sorted((seen[name].system_a, seen[name].system_b))
        found[name] = _Battle(first, second, min(max(points / amount, 0.0), 1.0))
    return found


def _counts(outcome: Vote | float, policy: TiePolicy) -> bool:
    if policy is TiePolicy.DROP:
        return outcome not in (Vote.TIE, Vote.BOTH_BAD)
    return not (policy is TiePolicy.DROP_BOTH_BAD and outcome is Vote.BOTH_BAD)


def _rate(
    system: str, pairs: Sequence[tuple[_Battle, _Battle]], further: Sequence[_Battle], level: float
) -> Three:
    mine = [pair for pair in pairs if system in (pair[0].first, pair[0].second)]
    more = [_points(system, battle) for battle in further if system in (battle.first, battle.second)]
    people, judge = (np.array([_points(system, pair[side]) for pair in mine]) for side in (0, 1))
    try:
        found = prediction_powered.win_rate(people, judge, np.array(more), level)
    except TooFewVotes:
        why = "fewer than two battles have both votes"
        return Three(None, None, None, None, len(mine), len(more), why)
    human, automatic, combined = (
        Value(each.value, interval(max(each.low, 0.0), min(each.high, 1.0), still=_STILL))
        for each in (found.human, found.automatic, found.combined)
    )
    return Three(human, automatic, combined, found.trust, found.humans, found.automatics)


def _points(system: str, battle: _Battle) -> float:
    return battle.points if battle.first == system else 1 - battle.points


def _ratings(
    rates: Mapping[str, Three],
    pairs: Sequence[tuple[_Battle, _Battle]],
    further: Sequence[_Battle],
    method: Method,
) -> tuple[dict[str, Three], tuple[str, ...]]:
    """Ratings of the systems that all automatic votes together can rank."""
    group, reasons = _group(list(rates), [*(judge for _, judge in pairs), *further])
    kept = [pair for pair in pairs if {pair[0].first, pair[0].second} <= set(group)]
    rest = [battle for battle in further if {battle.first, battle.second} <= set(group)]
    anchor = anchor_place(method.anchor, group)
    places = {name: index for index, name in enumerate(group)}
    human, judged, more = (
        _judged(places, battles)
        for battles in ([people for people, _ in kept], [judge for _, judge in kept], rest)
    )
    lacking = {
        name: Three(None, None, None, None, rates[name].humans, rates[name].automatics, str(why))
        for name, why in reasons.items()
    }
    try:
        found = prediction_powered.ratings(len(group), human, judged.score, more)
    except TooFewVotes:
        why = "fewer than two battles between ranked systems have both votes"
        three = Three(None, None, None, None, len(kept), len(rest), why)
        return dict.fromkeys(group, three) | lacking, (why,)
    columns = [_placed(fitted, method, anchor) for fitted in (found.human, found.automatic, found.combined)]
    ratings = {
        name: Three(human, automatic, combined, found.trust, found.humans, found.automatics)
        for name, human, automatic, combined in zip(
            group, *(each or _nothing(group) for each in columns), strict=True
        )
    }
    whose = ("the human votes alone", "the automatic votes alone", "both together")
    notes = [f"{who} cannot rank these systems" for who, each in zip(whose, columns, strict=True) if not each]
    return ratings | lacking, tuple(notes)


def _nothing(group: Sequence[str]) -> Sequence[Value | None]:
    return [None] * len(group)


def _group(systems: Sequence[str], battles: Iterable[_Battle]) -> tuple[list[str], dict[str, Unrankable]]:
    points = np.zeros((len(systems), len(systems)))
    place = {name: index for index, name in enumerate(systems)}
    for battle in battles:
        first, second = place[battle.first], place[battle.second]
        points[first, second] += battle.points
        points[second, first] += 1 - battle.points
    group, reasons = rankable(points)
    return [systems[index] for index in group], {systems[index]: why for index, why in reasons.items()}


def _judged(places: Mapping[str, int], battles: Sequence[_Battle]) -> Judged:
    return Judged(
        np.array([places[battle.first] for battle in battles], dtype=np.intp),
        np.array([places[battle.second] for battle in battles], dtype=np.intp),
        np.array([battle.points for battle in battles], dtype=np.float64),
    )


def _placed(fitted: Fitted | None, method: Method, anchor: tuple[int, float] | None) -> list[Value] | None:
    if fitted is None:
        return None
    found = normal_ratings(fitted.theta, fitted.covariance, level=method.level, anchor=anchor)
    return [
        Value(
            float(found.rating[index]),
            interval(
                float(found.low[index]),
                float(found.high[index]),
                fixed=anchor is not None and anchor[0] == index,
            ),
        )
        for index in range(len(found.rating))
    ]
