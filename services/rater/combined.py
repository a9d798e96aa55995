"""People's votes and automatic ones in one rating, beside each kind alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings import prediction_powered
from nuggetstream.ratings.ballots import POINTS
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.estimate import fit
from nuggetstream.ratings.intervals import Estimates, has_no_width
from nuggetstream.ratings.leaderboard import Anchor
from nuggetstream.ratings.prediction_powered import Fitted, Judged, PoweredRatings
from nuggetstream.ratings.sandwich import covariance, normal_ratings
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, rankable
from nuggetstream.ratings.votes import pairs_among
from services.rater.options import InvalidQuestion

MOST_NUMBERS = 5_000_000  # battles times systems: the method holds a few tables of this size
_DECISIVE = (Vote.A, Vote.B)


class EstimateState(StrEnum):
    """Whether one kind of votes rates the systems, or why not."""

    RATED = "rated"
    EMPTY = "empty"  # no automatic votes
    NOBODY_RANKED = "nobody_ranked"  # the automatic votes link no two systems in both directions
    TOO_FEW_VOTES = "too_few_votes"  # fewer than two battles with a human vote
    NOT_LINKED = "not_linked"  # these votes alone do not link every system in both directions
    ALL_TIED = "all_tied"  # nothing but ties: equal ratings, and nothing says how surely
    NO_FINITE_SOLUTION = "no_finite_solution"
    TOO_MANY_BATTLES = "too_many_battles"  # for the memory at hand; a slice has fewer


_NOTES = {
    EstimateState.RATED: "The combined rating is right if people voted on a random part of the battles.",
    EstimateState.EMPTY: "No battle has an automatic vote.",
    EstimateState.NOBODY_RANKED: "The automatic votes link no two systems in both directions.",
    EstimateState.TOO_FEW_VOTES: "Fewer than two battles have both a human and an automatic vote.",
    EstimateState.NOT_LINKED: "Human votes link too few systems, and automatic ones add nothing to them.",
    EstimateState.ALL_TIED: "People called every battle a tie: nothing says how sure a rating is.",
    EstimateState.NO_FINITE_SOLUTION: "The human votes correct the automatic ones beyond any finite rating.",
    EstimateState.TOO_MANY_BATTLES: "Too many battles to combine at once; ask for a slice.",
}


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating with its interval, in Elo points, and its rank by overlap.

    Attributes:
        low: None for a system that has only tied with the anchor: nothing says how surely it is level.
        high: likewise.
    """

    rating: float
    low: float | None
    high: float | None
    rank: int


@dataclass(frozen=True, slots=True)
class CombinedStanding:
    """One system, rated three ways; the message of the same name.

    Attributes:
        human_battles: with both votes.
        automatic_battles: with an automatic vote, with a human one or without.
    """

    system: str
    human: Rating | None
    automatic: Rating | None
    combined: Rating | None
    human_battles: int
    automatic_battles: int
    unrankable: Unrankable | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What one of the three ratings rests on, and why it is missing where it is."""

    battles: int
    state: EstimateState


@dataclass(frozen=True, slots=True)
class Combined:
    """Three ratings side by side.

    Attributes:
        state: of the combined one.
        trust: λ in [0, 1], how much of the automatic votes went in; None without a combined rating.
        human_votes_unused: on battles without an automatic vote, or of systems that cannot be ranked.
    """

    state: EstimateState
    note: str
    standings: tuple[CombinedStanding, ...]
    human: Estimate
    automatic: Estimate
    combined: Estimate
    trust: float | None
    human_votes_unused: int


@dataclass(frozen=True, slots=True)
class _Votes:
    """The joint counts among the systems that the automatic votes rank."""

    systems: tuple[str, ...]
    both: tuple[JointCount, ...]
    further: tuple[JointCount, ...]

    @property
    def humans(self) -> int:
        return sum(cell.count for cell in self.both)

    @property
    def automatics(self) -> int:
        return self.humans + sum(cell.count for cell in self.further)


def combine(joint: Sequence[JointCount], *, level: float = 0.95, anchor: Anchor | None = None) -> Combined:
    """Rate three ways: by people, by the automatic votes, by both (prediction-powered).

    The systems are those that all automatic votes together can rank; a tie is half a win.

    Args:
        joint: human votes first, automatic ones second.
        level: of the normal intervals.
        anchor: system whose rating is fixed.

    Raises:
        InvalidQuestion: the anchor is not among the ranked systems.
    """
    tally = Tally.count((c.system_a, c.system_b, c.second, c.count) for c in joint if c.second is not None)
    group, reasons = rankable(tally.points(TiePolicy.HALF))
    votes = _among(tuple(tally.systems[index] for index in group), joint)
    place = _place(anchor, votes.systems)
    fits, states, trust = _fits(tally, group, votes)
    columns = [
        None if fitted is None else normal_ratings(fitted.theta, fitted.covariance, level=level, anchor=place)
        for fitted in fits
    ]
    estimates = [
        Estimate(battles, state)
        for battles, state in zip((votes.humans, votes.automatics, votes.automatics), states, strict=True)
    ]
    unrankable = {tally.systems[index]: reason for index, reason in reasons.items()}
    asked = sum(cell.count for cell in joint if cell.first is not None)
    return Combined(
        state=states[2],
        note=_NOTES[states[2]],
        standings=_standings(columns, votes, joint, unrankable, place[0] if place else None),
        human=estimates[0],
        automatic=estimates[1],
        combined=estimates[2],
        trust=trust,
        human_votes_unused=asked - votes.humans,
    )


def _among(systems: tuple[str, ...], joint: Sequence[JointCount]) -> _Votes:
    inside = [
        cell
        for cell in joint
        if cell.second is not None and cell.system_a in systems and cell.system_b in systems
    ]
    both = tuple(cell for cell in inside if cell.first is not None)
    return _Votes(systems, both, tuple(cell for cell in inside if cell.first is None))


def _place(anchor: Anchor | None, systems: tuple[str, ...]) -> tuple[int, float] | None:
    if anchor is None or not systems:
        return None
    if anchor.system not in systems:
        raise InvalidQuestion("anchor", f"{anchor.system!r} is not ranked by the automatic votes")
    return systems.index(anchor.system), anchor.rating


_Fits = tuple[Fitted | None, Fitted | None, Fitted | None]
_States = tuple[EstimateState, EstimateState, EstimateState]


def _fits(tally: Tally, group: NDArray[np.intp], votes: _Votes) -> tuple[_Fits, _States, float | None]:
    """Human, automatic and combined strengths, the state of each, and the trust."""
    if not votes.systems:
        nobody = EstimateState.NOBODY_RANKED if tally.systems else EstimateState.EMPTY
        return (None, None, None), (nobody, nobody, nobody), None
    automatic, automatic_state = _automatic_alone(tally, group)
    if votes.humans < 2:
        few = EstimateState.TOO_FEW_VOTES
        return (None, automatic, None), (few, automatic_state, few), None
    if votes.automatics * len(votes.systems) > MOST_NUMBERS:
        many = EstimateState.TOO_MANY_BATTLES
        return (None, automatic, None), (many, automatic_state, many), None
    powered = _powered(votes)
    tied = not any(cell.first in _DECISIVE for cell in votes.both)
    human_state = _state_of(powered.human, tied, EstimateState.NOT_LINKED)
    # Without trust in the automatic votes the combined rating is the human one, with all its limits.
    alone = not powered.trust
    missing = EstimateState.NOT_LINKED if alone else EstimateState.NO_FINITE_SOLUTION
    state = _state_of(powered.combined, tied and alone, missing)
    rated = EstimateState.RATED
    fits = (
        powered.human if human_state is rated else None,
        automatic,
        powered.combined if state is rated else None,
    )
    return fits, (human_state, automatic_state, state), powered.trust if state is rated else None


def _state_of(fitted: Fitted | None, tied: bool, missing: EstimateState) -> EstimateState:
    if fitted is None:
        return missing
    return EstimateState.ALL_TIED if tied else EstimateState.RATED


def _automatic_alone(tally: Tally, group: NDArray[np.intp]) -> tuple[Fitted | None, EstimateState]:
    if not tally.wins[np.ix_(group, group)].any():
        return None, EstimateState.ALL_TIED
    pairs = pairs_among(tally, group, TiePolicy.HALF)
    theta, _ = fit(pairs, TiePolicy.HALF)
    return Fitted(theta, covariance(theta, pairs)), EstimateState.RATED


def _powered(votes: _Votes) -> PoweredRatings:
    place = {name: index for index, name in enumerate(votes.systems)}

    def judged(cells: Sequence[JointCount], said: Sequence[Vote | None]) -> Judged:
        times = [cell.count for cell in cells]
        a = np.array([place[cell.system_a] for cell in cells], dtype=np.intp)
        b = np.array([place[cell.system_b] for cell in cells], dtype=np.intp)
        points = np.array([POINTS[vote] for vote in said if vote is not None], dtype=np.float64)
        return Judged(np.repeat(a, times), np.repeat(b, times), np.repeat(points, times))

    human = judged(votes.both, [cell.first for cell in votes.both])
    automatic = judged(votes.both, [cell.second for cell in votes.both]).score
    further = judged(votes.further, [cell.second for cell in votes.further])
    return prediction_powered.ratings(len(votes.systems), human, automatic, further)


def _standings(
    columns: Sequence[Estimates | None],
    votes: _Votes,
    joint: Sequence[JointCount],
    unrankable: dict[str, Unrankable],
    anchor: int | None,
) -> tuple[CombinedStanding, ...]:
    """The ranked, best first by the best rating there is, then the others."""

    def standing(system: str, index: int | None) -> CombinedStanding:
        human, automatic, combined = (_rating(column, index, anchor) for column in columns)
        mine = [cell for cell in joint if system in (cell.system_a, cell.system_b) and cell.second]
        return CombinedStanding(
            system=system,
            human=human,
            automatic=automatic,
            combined=combined,
            human_battles=sum(cell.count for cell in mine if cell.first is not None),
            automatic_battles=sum(cell.count for cell in mine),
            unrankable=unrankable.get(system),
        )

    ranked = [standing(system, index) for index, system in enumerate(votes.systems)]
    ranked.sort(key=_order)
    return (*ranked, *(standing(system, None) for system in sorted(unrankable)))


def _order(standing: CombinedStanding) -> tuple[float, str]:
    known = standing.combined or standing.automatic or standing.human
    return (-known.rating if known else 0.0), standing.system


def _rating(column: Estimates | None, index: int | None, anchor: int | None) -> Rating | None:
    if column is None or index is None:
        return None
    rating, low, high = (float(part[index]) for part in (column.rating, column.low, column.high))
    rank = int(column.rank[index])
    if has_no_width(low, high) and index != anchor:
        return Rating(rating, None, None, rank)
    return Rating(rating, low, high, rank)
