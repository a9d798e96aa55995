"""Ratings as JSON.

What has no answer is null, and says why.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.views.common import View

BoardState = Literal["ranked", "empty", "nobody_ranked", "all_tied"]
IntervalState = Literal["bounded", "unbounded_below", "unbounded_above", "unbounded", "degenerate", "fixed"]
Separation = Literal["separated", "needs_battles", "equal", "degenerate"]
EstimateState = Literal[
    "rated",
    "empty",
    "nobody_ranked",
    "too_few_votes",
    "not_linked",
    "all_tied",
    "no_finite_solution",
    "too_many_battles",
]


class SliceView(View):
    """Which battles counted: those that meet every condition; null and empty are no condition."""

    language: str | None = None
    tags: list[str] = Field(default_factory=list)
    since: datetime | None = None
    until: datetime | None = None


class AnchorView(View):
    """The system whose rating is fixed."""

    system: str
    rating: float


class MethodView(View):
    """How ratings were made."""

    tie_policy: str
    tie_parameter: float | None = None
    """ν of Davidson, κ of Rao and Kupper; null for policies without one."""
    bootstrap: str | None = None
    """Null for sandwich intervals."""
    intervals: str
    level: float
    resamples: int
    unranked_resamples: int
    """Resamples that could not be ranked; each makes intervals wider."""
    anchor: AnchorView | None = None
    """Null: the mean rating is 1000."""
    slice: SliceView
    prior: float | None = None
    """Strength of the weak prior in pseudo-battles per system; null without a prior."""
    provisional_below: int
    """Ratings from fewer battles are provisional."""


class NoteView(View):
    """Something a reader must know before reading the numbers."""

    state: str
    """Name of the condition, for programs."""
    text: str


class StandingView(View):
    """One system on a board: estimates, or the reason why there are none."""

    system: str
    rating: float | None = None
    low: float | None = None
    """Null where the interval has no lower bound; `interval` gives the reason."""
    high: float | None = None
    interval: IntervalState | None = None
    """"unbounded", "unbounded_below", "unbounded_above": too many resamples could not be ranked.
    "degenerate": the votes never disagree. "fixed": the anchor. Null without a rating."""
    rank: int | None = None
    """Null for a provisional rating and for a degenerate interval."""
    group: str | None = None
    """Letters of the rank groups: ranked systems that share a letter are statistically indistinguishable."""
    provisional: bool
    """Whether the rating rests on too few battles to be ranked above or below others."""
    probability_first: float | None = None
    """Null where there are no resamples, or where they cannot tell."""
    battles: float
    wins: float
    losses: float
    ties: float
    unrankable: str | None = None


class DroppedVotesView(View):
    """Votes of one kind that would be dropped."""

    system_a: str
    system_b: str
    winner: Literal["a", "b", "tie"]
    votes: float
    of: float
    """How many such votes there are."""


class FragilityView(View):
    """The fewest votes found without which another ranked system is first."""

    drops: int | None = None
    """Null with a reason."""
    votes: float
    """Votes that count between rated systems."""
    share: float | None = None
    """Share of these votes that would be dropped, in (0, 1]."""
    leader: str | None = None
    successor: str | None = None
    kinds: list[DroppedVotesView] = Field(default_factory=list)
    reason: str | None = None
    """Why no such votes are known."""


class BoardView(View):
    """One leaderboard, with the battles it rests on of the battles received."""

    arena: str
    lens: Lens
    state: BoardState
    """"empty": no battle has an outcome. "nobody_ranked": no two systems are linked both ways. "all_tied":
    every rating is equal, and its precision is unknown."""
    note: str | None = None
    """The notes as one text."""
    notes: list[NoteView] = Field(default_factory=list)
    fragility: FragilityView | None = None
    """How few votes decide the first place; null where nobody is ranked."""
    standings: list[StandingView] = Field(default_factory=list)
    scored: int
    received: int
    outcomes: int
    """Outcomes counted; a battle with two judges has two in the lens of the judge."""
    tie_policy: str
    resamples: int
    level: float
    method: MethodView


class RatingView(View):
    """A rating with its interval, and its rank by overlap."""

    rating: float
    low: float | None = None
    """Null where the interval has no lower bound; `interval` gives the reason."""
    high: float | None = None
    rank: int
    interval: IntervalState


class CombinedStandingView(View):
    """One system, rated three ways; null where a kind of votes cannot rate the systems."""

    system: str
    human: RatingView | None = None
    automatic: RatingView | None = None
    combined: RatingView | None = None
    human_battles: int
    """Its battles with both votes."""
    automatic_battles: int
    """Its battles with an automatic vote, with a human one or without."""
    unrankable: str | None = None


class EstimateView(View):
    """What one of the three ratings rests on, and why it is missing where it is."""

    battles: int
    state: EstimateState


class CombinedView(View):
    """People's votes and automatic ones in one rating (prediction-powered), beside each kind alone."""

    arena: str
    automatic_lens: Lens
    state: EstimateState
    """Of the combined rating."""
    note: str | None = None
    standings: list[CombinedStandingView] = Field(default_factory=list)
    human: EstimateView
    automatic: EstimateView
    combined: EstimateView
    tuning: float | None = None
    """Weight of the automatic votes (λ of PPI++), in [0, 1]."""
    human_votes_unused: int
    """On battles without an automatic vote, or of systems that cannot be ranked."""
    received: int
    method: MethodView


class PairingView(View):
    """Two systems. `gap` is the rating of A less that of B; null where one of them is not ranked."""

    a: str
    b: str
    battles: float
    wins_a: float
    wins_b: float
    ties: float
    share: float | None = None
    """Of the points that A took, with its Wilson interval; null where they never met."""
    share_low: float | None = None
    share_high: float | None = None
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    above: float | None = None
    """Chance that A is above B; resamples that could not be ranked count for neither."""
    below: float | None = None
    interval: IntervalState | None = None


class PairsView(View):
    """Every pair of systems on one board, in the order of `systems`."""

    arena: str
    lens: Lens
    state: BoardState
    note: str | None = None
    systems: list[str] = Field(default_factory=list)
    """Best first, the unranked last."""
    pairs: list[PairingView] = Field(default_factory=list)
    scored: int
    received: int
    method: MethodView


class NeighboursView(View):
    """Two systems next to each other on the board."""

    above: str
    below: str
    gap: float
    gap_low: float | None = None
    gap_high: float | None = None
    battles: float
    needed: int | None = None
    """Direct battles still needed to tell them apart; null where no reachable number does."""
    state: Separation
    interval: IntervalState
    """State of the interval of the gap."""


class NextBattleView(View):
    """A battle worth having."""

    a: str
    b: str
    battles: float
    shrinkage: float
    """Share of the total variance of all ratings that one more battle takes away."""


class UnrankedView(View):
    """A system without a rating, and why."""

    system: str
    reason: str


class AdviceView(View):
    """What to ask next."""

    arena: str
    lens: Lens
    state: BoardState
    note: str | None = None
    neighbours: list[NeighboursView] = Field(default_factory=list)
    next: list[NextBattleView] = Field(default_factory=list)
    unranked: list[UnrankedView] = Field(default_factory=list)
    power: float
    scored: int
    received: int
    method: MethodView


class LensAgreementView(View):
    """Two lenses on the same battles; a coefficient without an answer is null, and its note says why."""

    first: Lens
    second: Lens
    battles: int
    """Decided by both."""
    agreed: int
    inverted: int
    """One lens says A and the other B."""
    kappa: float | None = None
    """Cohen's, over A, tie and B, quadratic weights."""
    kappa_note: str | None = None
    systems: int
    """Ranked by both."""
    tau_b: float | None = None
    rho: float | None = None
    order_note: str | None = None


class AgreementView(View):
    """How far the lenses of an arena agree."""

    arena: str
    pairs: list[LensAgreementView]
    received: int
    tie_policy: str
    slice: SliceView


class PeriodView(View):
    """The battles received in a span of time and what they rate."""

    start: datetime
    end: datetime
    """First moment that is no longer counted."""
    votes: float
    state: BoardState
    standings: list[StandingView] = Field(default_factory=list)


class TimelineView(View):
    """Ratings of one lens over time; a period without battles has state `empty`."""

    arena: str
    lens: Lens
    every: Literal["day", "week", "month"]
    cumulative: bool
    """Whether a period counts all battles since the beginning."""
    periods: list[PeriodView] = Field(default_factory=list)
    method: MethodView
    scored: int
    received: int
