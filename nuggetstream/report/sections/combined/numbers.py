"""A few human votes and many automatic ones together, and which votes to ask people for next."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.ratings.ballots import POINTS
from nuggetstream.ratings.prediction_powered import Fitted, Judged, PoweredRatings, TooFewVotes, ratings
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import normal_ratings
from nuggetstream.ratings.tally import Tally, rankable
from nuggetstream.report.lenses import AUTOMATIC, POLICY
from nuggetstream.report.strengths import FLAT, Rated, flat, human_strengths, rated

Floats = NDArray[np.float64]

WAYS = ("human", "automatic", "combined")
PEOPLE = "people's votes alone"
_PAIRS = 5  # pairs named as worth asking about


@dataclass(frozen=True, slots=True)
class ThreeWays:
    """One system's rating by three kinds of evidence.

    None where that evidence cannot rank everybody, or holds no spread to tell errors by.
    """

    system: str
    human: Rated | None
    automatic: Rated | None
    combined: Rated | None


@dataclass(frozen=True, slots=True)
class Combined:
    """Human votes corrected and extended by one automatic lens.

    Attributes:
        lens: whose automatic votes.
        humans: battles with both votes.
        automatics: further battles with an automatic vote only.
        trust: λ in [0, 1], how much of the automatic votes went in; None without an estimate.
        systems: best first by the combined rating, else by the human, else by the automatic one.
        flat: which of the three were left out, because their votes show no spread.
        missing: why there is no estimate; None where there is one.
    """

    lens: Lens
    humans: int
    automatics: int
    trust: float | None
    systems: tuple[ThreeWays, ...]
    flat: tuple[str, ...]
    missing: str | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Two systems, and the share of all remaining variance that one more vote on them takes away."""

    first: str
    second: str
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Needed:
    """Direct votes until neighbours are told apart at 95 % with 80 % power; None when they are equal."""

    upper: str
    lower: str
    votes: int | None


@dataclass(frozen=True, slots=True)
class NextVotes:
    """What to ask people next.

    Attributes:
        basis: the estimate that the advice follows from.
        missing: why there is no advice; None where there is some.
    """

    basis: str
    ask: tuple[Ask, ...]
    needed: tuple[Needed, ...]
    missing: str | None


@dataclass(frozen=True, slots=True)
class ArenaCombined:
    """One arena: an estimate per automatic lens, and the advice."""

    arena: str
    received: int
    powered: tuple[Combined, ...]
    next: NextVotes


def compute(results: Results) -> tuple[ArenaCombined, ...]:
    """Every arena on its own."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> ArenaCombined:
    fitted = [_powered(lens, battles) for lens in AUTOMATIC]
    powered = tuple(each for each, _, _ in fitted)
    return ArenaCombined(name, len(battles), powered, _next(battles, fitted))


_Powered = tuple[Combined, tuple[str, ...], PoweredRatings | None]


def _powered(lens: Lens, battles: Sequence[BattleRow]) -> _Powered:
    known = [each for each in battles if each.a.system != each.b.system and each.vote(lens) is not None]
    tally = Tally.count((b.a.system, b.b.system, vote, 1.0) for b in known if (vote := b.vote(lens)))
    group, _ = rankable(tally.points(POLICY))
    names = tuple(tally.systems[index] for index in group)
    known = [each for each in known if each.a.system in names and each.b.system in names]
    both = [each for each in known if each.human_vote is not None]
    further = [each for each in known if each.human_vote is None]
    if not names:
        return _none(lens, both, further, f"the {lens} lens cannot rank any two systems yet")
    voted = _judged(both, names, lambda battle: battle.human_vote)
    beside = _judged(both, names, lambda battle: battle.vote(lens)).score
    more = _judged(further, names, lambda battle: battle.vote(lens))
    try:
        found = ratings(len(names), voted, beside, more)
    except TooFewVotes:
        had = "1 battle has" if len(both) == 1 else f"{len(both)} battles have"
        reason = f"{had} both a human vote and one of the {lens} lens; it takes 2"
        return _none(lens, both, further, reason)
    ways = (found.human, found.automatic, found.combined)
    left_out = tuple(name for name, way in zip(WAYS, ways, strict=True) if way and flat(way.covariance))
    human, automatic, combined = (None if way and flat(way.covariance) else way for way in ways)
    found = replace(found, human=human, automatic=automatic, combined=combined)
    if not (found.human or found.automatic or found.combined):
        return _none(lens, both, further, FLAT)
    systems = _systems(names, found)
    powered = Combined(lens, len(both), len(further), found.tuning, systems, left_out, None)
    return powered, names, found


def _none(lens: Lens, both: Sequence[BattleRow], further: Sequence[BattleRow], reason: str) -> _Powered:
    return Combined(lens, len(both), len(further), None, (), (), reason), (), None


def _judged(
    battles: Sequence[BattleRow], names: Sequence[str], says: Callable[[BattleRow], Vote | None]
) -> Judged:
    place = {name: index for index, name in enumerate(names)}
    votes = [(place[b.a.system], place[b.b.system], POINTS[vote]) for b in battles if (vote := says(b))]
    a, b, score = zip(*votes, strict=True) if votes else ((), (), ())
    return Judged(np.array(a, np.intp), np.array(b, np.intp), np.array(score, np.float64))


def _systems(names: Sequence[str], found: PoweredRatings) -> tuple[ThreeWays, ...]:
    three = [_rated(fitted, len(names)) for fitted in (found.human, found.automatic, found.combined)]
    systems = [ThreeWays(name, *(ways[place] for ways in three)) for place, name in enumerate(names)]

    def best(each: ThreeWays) -> float:
        shown = each.combined or each.human or each.automatic
        return -shown.rating if shown else 0.0

    return tuple(sorted(systems, key=best))


def _rated(fitted: Fitted | None, size: int) -> list[Rated | None]:
    if fitted is None:
        return [None] * size
    found = normal_ratings(fitted.theta, fitted.covariance)
    return [rated(found, place) for place in range(size)]


def _next(battles: Sequence[BattleRow], fitted: Sequence[_Powered]) -> NextVotes:
    """From the combination that trusts its automatic votes most, else from people's votes alone."""
    combined = [
        (each.trust, each.lens, names, found.combined)
        for each, names, found in fitted
        if found is not None and found.combined is not None and each.trust
    ]
    if combined:
        _, lens, names, chosen = max(combined, key=lambda each: each[0])
        return _advice(
            f"people's votes with those of the {lens} lens", names, chosen.theta, chosen.covariance
        )
    alone = human_strengths(battles)
    if isinstance(alone, str):
        return NextVotes(PEOPLE, (), (), alone)
    return _advice(PEOPLE, alone.ballots.systems, alone.theta, alone.covariance)


def _advice(basis: str, names: Sequence[str], theta: Floats, covariance: Floats) -> NextVotes:
    asked = most_informative(theta, covariance, _PAIRS)
    order = [int(place) for place in np.argsort(-theta, kind="stable")]
    return NextVotes(
        basis=basis,
        ask=tuple(Ask(names[each.i], names[each.j], each.shrinkage) for each in asked),
        needed=tuple(
            Needed(names[i], names[j], battles_needed(theta, covariance, i, j)) for i, j in pairwise(order)
        ),
        missing=None if asked else FLAT,
    )
