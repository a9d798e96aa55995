"""Comparisons of systems and of lenses as JSON: combined ratings, pairs, advice and agreement.

A value that does not exist is null, and a state or a note gives the reason.
"""

from typing import Literal

from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Support
from nuggetstream.files import tables
from nuggetstream.files.boards import bounds, interval_column
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.views.common import View
from nuggetstream.views.ratings import BoardState, IntervalState, MethodView, SliceView

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
Separation = Literal["separated", "needs_battles", "equal", "degenerate"]


class RatingView(View):
    """A rating with its interval, and its rank by overlap of intervals."""

    rating: float
    low: float | None = None
    """Null where the interval has no lower bound; `interval` gives the reason."""
    high: float | None = None
    rank: int
    interval: IntervalState


class CombinedStandingView(View):
    """One system, rated in three ways; null where a kind of votes cannot rate the systems."""

    system: str
    human: RatingView | None = None
    automatic: RatingView | None = None
    combined: RatingView | None = None
    human_battles: int
    """Number of its battles with both votes."""
    automatic_battles: int
    """Number of its battles with an automatic vote."""
    unrankable: str | None = None


class EstimateView(View):
    """What one of the three ratings rests on, and the reason where there is none."""

    battles: int
    state: EstimateState


class CombinedView(View):
    """Human and automatic votes in one prediction-powered rating, beside the ratings from each kind alone."""

    arena: str
    automatic_lens: Lens
    state: EstimateState
    """State of the combined rating."""
    note: str | None = None
    standings: list[CombinedStandingView] = Field(default_factory=list)
    human: EstimateView
    automatic: EstimateView
    combined: EstimateView
    tuning: float | None = None
    """Weight of the automatic votes (λ of PPI++), in [0, 1]."""
    human_votes_unused: int
    """Number of human votes that do not count: those on battles without an automatic vote, and those of
    systems that cannot be ranked."""
    received: int
    method: MethodView


class PairingView(View):
    """Two systems. `gap` is the rating of A minus that of B; null where one of them is not ranked."""

    a: str
    b: str
    battles: float
    wins_a: float
    wins_b: float
    ties: float
    share: float | None = None
    """Share of the points that A won, with its Wilson interval; null where the systems never met."""
    share_low: float | None = None
    share_high: float | None = None
    gap: float | None = None
    gap_low: float | None = None
    gap_high: float | None = None
    above: float | None = None
    """Probability that A is above B; resamples that could not be ranked count for neither."""
    below: float | None = None
    interval: IntervalState | None = None


class PairsView(Tabular, View):
    """Every pair of systems on one board, in the order of `systems`."""

    arena: str
    lens: Lens
    state: BoardState
    note: str | None = None
    systems: list[str] = Field(default_factory=list)
    """Names of the systems, best first, the unranked last."""
    pairs: list[PairingView] = Field(default_factory=list)
    scored: int
    received: int
    method: MethodView

    def table(self) -> Table:
        """One row per two systems."""
        columns = (
            tables.text("a"),
            tables.text("b"),
            tables.number("battles", digits=0),
            tables.percent("share", "points of a"),
            tables.number("difference", digits=0),
            interval_column(self.method.level),
            tables.percent("above", "P(a above b)"),
        )
        rows = tuple(
            (
                pair.a,
                pair.b,
                pair.battles,
                pair.share,
                pair.gap,
                bounds(pair.gap_low, pair.gap_high),
                pair.above,
            )
            for pair in self.pairs
        )
        return Table(f"{self.arena}: {self.lens.value}", columns, rows)


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
    """A pair of systems whose next battle is recommended."""

    a: str
    b: str
    battles: float
    shrinkage: float
    """Share of the total variance of all ratings that one more battle removes."""


class UnrankedView(View):
    """A system without a rating, and the reason."""

    system: str
    reason: str


class AdviceView(View):
    """How many battles are still needed to tell neighbours apart, and which to run next."""

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
    """Two lenses compared on the same battles; the note of a coefficient that is null gives the reason."""

    first: Lens
    second: Lens
    battles: int
    """Number of battles decided by both."""
    agreed: int
    inverted: int
    """Number of battles where one lens prefers A and the other B."""
    kappa: float | None = None
    """Cohen's kappa over A, tie and B with quadratic weights."""
    kappa_note: str | None = None
    systems: int
    """Number of systems ranked by both."""
    tau_b: float | None = None
    rho: float | None = None
    order_note: str | None = None
    first_evaluator: str | None = None
    """The first of two judges; `first` and `second` are then both `judge`."""
    second_evaluator: str | None = None


class LabelAgreementView(View):
    """How far a second assigner gives the labels of the first to the same nuggets of the same answers."""

    evaluator: str
    model: str
    battles: int
    labels: int
    agreed: int
    kappa: float | None = None
    """Cohen's kappa with quadratic weights over support, partial support, no support and contradiction;
    null where all labels are the same one."""
    kappa_unweighted: float | None = None
    counts: dict[Support, dict[Support, int]]
    """Number of labels by the label of the first assigner and that of the second."""


class AgreementView(View):
    """Agreement between the lenses of an arena."""

    arena: str
    pairs: list[LensAgreementView]
    labels: list[LabelAgreementView] | None = None
    """Second assigners, one per name and model; null where a filter selects battles, because labels are
    counted for whole arenas."""
    received: int
    tie_policy: str
    slice: SliceView
