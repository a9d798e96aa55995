"""Two systems compared, or two lenses: the values that the rating model computes and that travel."""

from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.standing import IntervalState, Unrankable, pair_of_bounds

UNREACHABLE = 100_000  # battles, for a gap of about 3 Elo points: practically equal


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Difference of the ratings of two ranked systems.

    Attributes:
        system: The higher one, or the first one asked for.
        opponent: The other one.
        gap: Rating of the system minus that of the opponent, Elo points.
        low: Lower bound of the gap; None where there is none, and `interval_state` says why.
        high: Upper bound of the gap; None where there is none.
        interval_state: What the bounds are worth.
        above: Probability that the system is above, in [0, 1]; None for a degenerate interval or where no
            resample could be ranked.
        below: Probability that the opponent is above. Resamples that could not be ranked count for neither.
    """

    system: str
    opponent: str
    gap: float
    low: float | None
    high: float | None
    interval_state: IntervalState
    above: float | None
    below: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) of the gap, see `pair_of_bounds`."""
        return pair_of_bounds(self.low, self.high, self.interval_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """Two systems in the order of the standings.

    Attributes:
        a: The system that stands higher.
        b: The other one.
        battles: Battles between the two that count under the tie policy.
        wins_a: Battles that A won.
        wins_b: Battles that B won.
        ties: Ties that count.
        share: Share of the points that A took, in [0, 1]; None where they never met.
        share_low: Lower bound of the share by Wilson's interval; None where they never met.
        share_high: Upper bound of the share; None where they never met.
        gap: Rating of A minus rating of B, Elo points; None unless both are rated.
        gap_low: Lower bound of the gap; None where there is none, and `interval_state` says why.
        gap_high: Upper bound of the gap; None where there is none.
        above: Probability that A is above, in [0, 1], as in `Gap`.
        below: Probability that B is above.
        interval_state: What the bounds of the gap are worth; None without a gap.
    """

    a: str
    b: str
    battles: float
    wins_a: float
    wins_b: float
    ties: float
    share: float | None
    share_low: float | None
    share_high: float | None
    gap: float | None
    gap_low: float | None
    gap_high: float | None
    above: float | None
    below: float | None
    interval_state: IntervalState | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) of the gap, see `pair_of_bounds`."""
        return pair_of_bounds(self.gap_low, self.gap_high, self.interval_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """What one system did against another, as it was voted.

    Attributes:
        battles: Battles between the two, whether or not the tie policy counts them.
        share: Share of the points under the tie policy, in [0, 1]; None when no battle counts.
    """

    system: str
    opponent: str
    battles: float
    wins: float
    losses: float
    ties: float
    both_bad: float
    share: float | None


class Separation(StrEnum):
    """Whether two neighbours can be told apart."""

    SEPARATED = "separated"
    NEEDS_BATTLES = "needs_battles"
    EQUAL = "equal"
    DEGENERATE = "degenerate"

    @property
    def words(self) -> str:
        """The state for a person."""
        return _WORDS[self]


_WORDS = {
    Separation.SEPARATED: "can be told apart",
    Separation.NEEDS_BATTLES: "needs more battles",
    Separation.EQUAL: "practically equal",
    Separation.DEGENERATE: "degenerate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Two systems that follow each other by rating.

    Attributes:
        above: The system with the higher rating.
        below: The other one.
        gap: Difference of their ratings, Elo points.
        gap_low: Lower bound of the gap; None where there is none, and `interval_state` says why.
        gap_high: Upper bound of the gap; None where there is none.
        interval_state: What the bounds are worth.
        battles: Battles between the two so far that count.
        needed: Direct battles until the interval of the gap excludes zero, 0 when it does already; None
            where no reachable number of battles tells them apart, and `state` says why.
        state: Whether they can be told apart.
    """

    above: str
    below: str
    gap: float
    gap_low: float | None
    gap_high: float | None
    interval_state: IntervalState
    battles: float
    needed: int | None
    state: Separation

    @property
    def interval(self) -> tuple[float, float] | None:
        """(low, high) of the gap, see `pair_of_bounds`."""
        return pair_of_bounds(self.gap_low, self.gap_high, self.interval_state)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextBattle:
    """A battle worth having.

    Attributes:
        battles: Battles between the two so far that count.
        shrinkage: Share of the total variance of all ratings that one more battle removes, in [0, 1).
    """

    a: str
    b: str
    battles: float
    shrinkage: float


@dataclass(frozen=True, slots=True)
class Unranked:
    """A system without a rating, and the reason."""

    system: str
    reason: Unrankable


@dataclass(frozen=True, slots=True)
class LensAgreement:
    """Two lenses on the same battles. A coefficient is None where it does not exist, and its note says why.

    Attributes:
        first: One lens.
        second: The other one.
        battles: Battles decided by both.
        agreed: Battles of these with the same outcome; "both bad" counts as a tie.
        inverted: Battles of these in which one lens says A and the other B.
        kappa: Cohen's kappa over A, tie and B with quadratic weights, in [-1, 1].
        kappa_note: Why there is no kappa; None where there is one.
        systems: Systems ranked by both.
        tau_b: Kendall's tau-b of the ratings, in [-1, 1].
        rho: Spearman's rho of the ratings, in [-1, 1].
        order_note: Why there is no tau or rho; None where there is one.
        first_evaluator: The first judge, where two judges are compared; else None.
        second_evaluator: The second judge.
    """

    first: Lens
    second: Lens
    battles: int
    agreed: int
    inverted: int
    kappa: float | None
    kappa_note: str | None
    systems: int
    tau_b: float | None
    rho: float | None
    order_note: str | None
    first_evaluator: str | None = None
    second_evaluator: str | None = None
