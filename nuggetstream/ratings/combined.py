"""People's votes and automatic ones in one rating, beside each kind alone.

    combine(JointVotes, Options)  ->  Combined

The combined rating is prediction-powered: where a battle has both votes, people show how the automatic votes
err, and that error is removed from the estimate over all battles. It is right if people voted on a random
part of the battles.

Source: Angelopoulos, Bates, Fannjiang, Jordan, Zrnic, "Prediction-powered inference", 2023; Angelopoulos,
Duchi, Zrnic, "PPI++", 2023.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.tables import Table
from nuggetstream.ratings.advice import NO_VARIANCE, Advice, advise_on, no_advice
from nuggetstream.ratings.board_tables import combined_table
from nuggetstream.ratings.combined_standing import CombinedStanding, Estimate, EstimateState, Rating
from nuggetstream.ratings.fit import anchor_index, fitted
from nuggetstream.ratings.fitting import prediction_powered
from nuggetstream.ratings.fitting.prediction_powered import Fitted, TooFewVotes
from nuggetstream.ratings.fitting.tally import rankable
from nuggetstream.ratings.fitting.votes import Counted
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.normal import normally_rated
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.standing import Unrankable

Floats = NDArray[np.float64]

MOST_NUMBERS = 5_000_000  # battles times systems: the method holds a few tables of this size


_Way = tuple[Estimate, Fitted | None]  # with the strengths in logits, where the estimate exists


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Combined(Drawn):
    """Three ratings side by side. As a table: one row per system.

    Attributes:
        options: How they were made; the level and the anchor apply.
        systems: Ranked systems, in the order of the fitted strengths.
        standings: Ranked systems by their best estimate, then the others.
        human: People's votes alone.
        automatic: Automatic votes alone.
        combined: Both.
        tuning: λ in [0, 1], how much weight the automatic votes have; None without a combined rating.
        human_votes_unused: Human votes on battles without an automatic one, or of unranked systems.
        played: (K, K) battles with a human vote between the ranked systems.
        fitted: Strengths in logits of the combined rating with their covariance; None without one.
    """

    options: Options
    systems: tuple[str, ...]
    standings: tuple[CombinedStanding, ...]
    human: Estimate
    automatic: Estimate
    combined: Estimate
    tuning: float | None
    human_votes_unused: int
    played: Floats
    fitted: Fitted | None

    @property
    def state(self) -> EstimateState:
        """State of the combined rating."""
        return self.combined.state

    def advice(self, *, power: float = 0.8, count: int = 10) -> Advice:
        """What to ask people next, from the combined strengths.

        Args:
            power: Probability that the named number of battles then shows a true difference, in [0.5, 1).
            count: Number of pairs to name.
        """
        level = self.options.level
        if self.fitted is None:
            return no_advice(self.note, level=level, power=power)
        theta, covariance = self.fitted.theta, self.fitted.covariance
        return advise_on(self.systems, theta, covariance, self.played, level=level, power=power, count=count)

    @property
    def note(self) -> str:
        """What the state means, as a sentence."""
        return self.state.words

    def table(self) -> Table:
        """One row per system: three ratings, each with its interval."""
        return combined_table(self.standings, self.options.level, self.note)


def combine(votes: JointVotes, options: Options | None = None) -> Combined:
    """Rate three ways: by people, by the automatic votes, and by both.

    The systems are those that the automatic votes rank; a tie is half a win.

    Args:
        votes: Human and automatic outcomes of the same battles.
        options: Level and anchor; the defaults when None.

    Raises:
        AnchorNotRanked: The anchor is not one of the ranked systems although there are some.
    """
    options = options or Options()
    group, reasons = rankable(votes.automatic_points())
    inside = votes.within(tuple(votes.systems[index] for index in group))
    ways, tuning = _estimates(votes, inside)
    anchor = None
    if options.anchor is not None and inside.systems:
        anchor = anchor_index(options.anchor, inside.systems)
    columns = [
        None if fit is None else normally_rated(fit.theta, fit.covariance, options.level, anchor)
        for _, fit in ways
    ]
    ranked = [
        _standing(votes, system, tuple(None if column is None else column[index] for column in columns), None)
        for index, system in enumerate(inside.systems)
    ]
    ranked.sort(key=_best_first)
    unranked = [
        _standing(votes, votes.systems[index], (None, None, None), reason)
        for index, reason in sorted(reasons.items())
        if votes.battles_of(votes.systems[index])[1]
    ]
    return Combined(
        options=options,
        systems=inside.systems,
        standings=(*ranked, *unranked),
        human=ways[0][0],
        automatic=ways[1][0],
        combined=ways[2][0],
        tuning=tuning,
        human_votes_unused=votes.humans - inside.both,
        played=inside.played_by_people(),
        fitted=ways[2][1],
    )


def _estimates(votes: JointVotes, inside: JointVotes) -> tuple[tuple[_Way, _Way, _Way], float | None]:
    """Human, automatic and combined estimates, and λ."""
    size, battles = len(inside.systems), inside.automatics

    def missing(state: EstimateState, automatic: _Way | None = None) -> tuple[_Way, _Way, _Way]:
        none = (Estimate(battles, state), None)
        return (Estimate(inside.both, state), None), automatic or none, none

    if not size:
        empty = not votes.automatics
        return missing(EstimateState.EMPTY if empty else EstimateState.NOBODY_RANKED), None
    if battles * size > MOST_NUMBERS:
        return missing(EstimateState.TOO_MANY_BATTLES, _from_counts(inside)), None
    try:
        fitted = prediction_powered.ratings(size, *inside.for_inference())
    except TooFewVotes:
        alone = prediction_powered.alone(size, inside.all_automatic())
        automatic = _estimate(battles, alone, EstimateState.NOBODY_RANKED)
        return missing(EstimateState.TOO_FEW_VOTES, automatic), None
    only_people = not fitted.tuning  # without automatic votes the combined rating is the human one
    lacking = EstimateState.NOT_LINKED if only_people else EstimateState.NO_FINITE_SOLUTION
    human = _estimate(inside.both, fitted.human, EstimateState.NOT_LINKED)
    automatic = _estimate(battles, fitted.automatic, EstimateState.NOBODY_RANKED)
    combined = _estimate(battles, fitted.combined, lacking)
    return (human, automatic, combined), fitted.tuning if combined[1] else None


def _from_counts(votes: JointVotes) -> _Way:
    """Automatic votes alone without a table per battle; battles are counted per pair instead."""
    tally = votes.automatic_tally()
    everybody = np.arange(len(votes.systems))
    fit = fitted(Counted(tally), tally, everybody, Options(intervals=Intervals.SANDWICH))
    alone = None if fit.covariance is None else Fitted(fit.theta, fit.covariance)
    return _estimate(votes.automatics, alone, EstimateState.NOBODY_RANKED)


def _estimate(battles: int, fitted: Fitted | None, missing: EstimateState) -> _Way:
    if fitted is None:
        return Estimate(battles, missing), None
    if float(np.trace(fitted.covariance)) < NO_VARIANCE:
        return Estimate(battles, EstimateState.ALL_TIED), None
    return Estimate(battles, EstimateState.RATED), fitted


def _standing(
    votes: JointVotes,
    system: str,
    ratings: Sequence[Rating | None],
    unrankable: Unrankable | None,
) -> CombinedStanding:
    human_battles, automatic_battles = votes.battles_of(system)
    human, automatic, combined = ratings
    return CombinedStanding(
        system=system,
        human=human,
        automatic=automatic,
        combined=combined,
        human_battles=human_battles,
        automatic_battles=automatic_battles,
        unrankable=unrankable,
    )


def _best_first(standing: CombinedStanding) -> tuple[float, str]:
    best = standing.combined or standing.automatic or standing.human
    return (-best.rating if best else 0.0), standing.system
