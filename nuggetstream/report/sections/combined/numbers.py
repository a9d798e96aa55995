"""A few human votes and many automatic ones together, and which votes to ask people for next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.lens import Lens
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import many
from nuggetstream.files.results import Results
from nuggetstream.ratings.ballots import POINTS
from nuggetstream.ratings.prediction_powered import Fitted, Judged, PoweredRatings, TooFewVotes, ratings
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import normal_ratings
from nuggetstream.ratings.tally import Tally, rankable
from nuggetstream.report.lenses import AUTOMATIC, POLICY
from nuggetstream.report.strengths import NO_SPREAD, Rated, human_strengths, is_degenerate, rated

Floats = NDArray[np.float64]

WAYS = ("human", "automatic", "combined")
PEOPLE = "people's votes alone"
_PAIRS = 5  # pairs named as worth asking about


@dataclass(frozen=True, slots=True)
class ThreeWays:
    """One system's rating by three kinds of evidence.

    None where that evidence cannot rank every system, or has no spread to estimate errors from.
    """

    system: str
    human: Rated | None
    automatic: Rated | None
    combined: Rated | None


@dataclass(frozen=True, slots=True)
class Combined:
    """Human votes corrected and extended by one automatic lens.

    Attributes:
        lens: The automatic lens.
        humans: Battles with both votes.
        automatics: Further battles with an automatic vote only.
        trust: λ in [0, 1], the weight of the automatic votes; None without an estimate.
        systems: Best first by the combined rating, else by the human, else by the automatic one.
        degenerate: Which of the three were left out, because their votes have no spread.
        missing: Why there is no estimate; None where there is one.
    """

    lens: Lens
    humans: int
    automatics: int
    trust: float | None
    systems: tuple[ThreeWays, ...]
    degenerate: tuple[str, ...]
    missing: str | None


@dataclass(frozen=True, slots=True)
class Ask:
    """Two systems, and the share of the summed variance that one more vote on them takes away."""

    first: str
    second: str
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Needed:
    """Direct votes until neighbours are told apart at 95% with 80% power; None when they are equal."""

    upper: str
    lower: str
    votes: int | None


@dataclass(frozen=True, slots=True)
class NextVotes:
    """What to ask people next.

    Attributes:
        basis: The estimate that the advice follows from.
        ask: Pairs whose next vote tells most.
        needed: Votes still needed per pair of neighbours.
        missing: Why there is no advice; None where there is some.
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
    """Combined estimates and advice of every arena."""
    return tuple(_arena(name, battles) for name, battles in results.by_arena().items())


def _arena(name: str, battles: Sequence[BattleRow]) -> ArenaCombined:
    fitted = [_powered(lens, battles) for lens in AUTOMATIC]
    powered = tuple(combined for combined, _, _ in fitted)
    return ArenaCombined(name, len(battles), powered, _next(battles, fitted))


_Powered = tuple[Combined, tuple[str, ...], PoweredRatings | None]


def _powered(lens: Lens, battles: Sequence[BattleRow]) -> _Powered:
    names = _rankable(lens, battles)
    known = [
        battle
        for battle in battles
        if battle.a.system != battle.b.system
        and battle.vote(lens) is not None
        and {battle.a.system, battle.b.system} <= {*names}
    ]
    both = [battle for battle in known if battle.human_vote is not None]
    further = [battle for battle in known if battle.human_vote is None]
    if not names:
        return _none(lens, both, further, f"the {lens} lens cannot rank any two systems yet")
    voted = _judged(both, names, Lens.HUMAN)
    beside = _judged(both, names, lens).score
    more = _judged(further, names, lens)
    try:
        powered = ratings(len(names), voted, beside, more)
    except TooFewVotes:
        have = many(len(both), "battle has", "battles have")
        reason = f"{have} both a human vote and one of the {lens} lens, and it takes 2"
        return _none(lens, both, further, reason)
    ways = (powered.human, powered.automatic, powered.combined)
    left_out = tuple(
        name for name, way in zip(WAYS, ways, strict=True) if way and is_degenerate(way.covariance)
    )
    human, automatic, combined = (None if way and is_degenerate(way.covariance) else way for way in ways)
    powered = replace(powered, human=human, automatic=automatic, combined=combined)
    if not (powered.human or powered.automatic or powered.combined):
        return _none(lens, both, further, NO_SPREAD)
    estimate = Combined(
        lens=lens,
        humans=len(both),
        automatics=len(further),
        trust=powered.tuning,
        systems=_systems(names, powered),
        degenerate=left_out,
        missing=None,
    )
    return estimate, names, powered


def _rankable(lens: Lens, battles: Sequence[BattleRow]) -> tuple[str, ...]:
    """The systems that the lens can rank."""
    tally = Tally.count(
        (battle.a.system, battle.b.system, vote, 1.0)
        for battle in battles
        if battle.a.system != battle.b.system and (vote := battle.vote(lens)) is not None
    )
    group, _ = rankable(tally.points(POLICY))
    return tuple(tally.systems[index] for index in group)


def _none(lens: Lens, both: Sequence[BattleRow], further: Sequence[BattleRow], reason: str) -> _Powered:
    estimate = Combined(
        lens=lens,
        humans=len(both),
        automatics=len(further),
        trust=None,
        systems=(),
        degenerate=(),
        missing=reason,
    )
    return estimate, (), None


def _judged(battles: Sequence[BattleRow], names: Sequence[str], lens: Lens) -> Judged:
    indices = {name: index for index, name in enumerate(names)}
    votes = [
        (indices[battle.a.system], indices[battle.b.system], POINTS[vote])
        for battle in battles
        if (vote := battle.vote(lens)) is not None
    ]
    a, b, score = zip(*votes, strict=True) if votes else ((), (), ())
    return Judged(np.array(a, np.intp), np.array(b, np.intp), np.array(score, np.float64))


def _systems(names: Sequence[str], powered: PoweredRatings) -> tuple[ThreeWays, ...]:
    three = [_rated(way, len(names)) for way in (powered.human, powered.automatic, powered.combined)]
    systems = [ThreeWays(name, *(way[index] for way in three)) for index, name in enumerate(names)]

    def best_first(system: ThreeWays) -> float:
        shown = system.combined or system.human or system.automatic
        return -shown.rating if shown else 0.0

    return tuple(sorted(systems, key=best_first))


def _rated(fitted: Fitted | None, size: int) -> list[Rated | None]:
    if fitted is None:
        return [None] * size
    normal = normal_ratings(fitted.theta, fitted.covariance)
    return [rated(normal, index) for index in range(size)]


def _next(battles: Sequence[BattleRow], fitted: Sequence[_Powered]) -> NextVotes:
    """From the combination that trusts its automatic votes most, else from people's votes alone."""
    combined = [
        (estimate.trust, estimate.lens, names, powered.combined)
        for estimate, names, powered in fitted
        if powered is not None and powered.combined is not None and estimate.trust
    ]
    if combined:
        _, lens, names, chosen = max(combined, key=lambda candidate: candidate[0])
        basis = f"people's votes with those of the {lens} lens"
        return _advice(basis, names, chosen.theta, chosen.covariance)
    strengths = human_strengths(battles)
    if isinstance(strengths, str):
        return NextVotes(PEOPLE, (), (), strengths)
    return _advice(PEOPLE, strengths.ballots.systems, strengths.theta, strengths.covariance)


def _advice(basis: str, names: Sequence[str], theta: Floats, covariance: Floats) -> NextVotes:
    pairs = most_informative(theta, covariance, _PAIRS)
    order = [int(index) for index in np.argsort(-theta, kind="stable")]
    return NextVotes(
        basis=basis,
        ask=tuple(Ask(names[pair.i], names[pair.j], pair.shrinkage) for pair in pairs),
        needed=tuple(
            Needed(names[i], names[j], battles_needed(theta, covariance, i, j)) for i, j in pairwise(order)
        ),
        missing=None if pairs else NO_SPREAD,
    )
