"""Comparisons of systems and of lenses as JSON: combined ratings, pairs, advice and agreement.

A value that does not exist is null, and a state or a note gives the reason.
"""

from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Support
from nuggetstream.domain.slice import Slice
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.files.tables import Table, Tabular, count, number, text
from nuggetstream.ratings.board_tables import combined_table, neighbours_table, pairs_table
from nuggetstream.ratings.combined_standing import CombinedStanding, Estimate, EstimateState
from nuggetstream.ratings.comparison import LensAgreement, Neighbours, NextBattle, Pairing, Unranked
from nuggetstream.ratings.method import Method
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.views.common import View
from nuggetstream.views.ratings import StateView


class CombinedView(Tabular, View):
    """Human and automatic votes in one prediction-powered rating, beside the ratings from each kind alone."""

    arena: str
    automatic_lens: Lens
    state: EstimateState
    """State of the combined rating."""
    note: str | None = None
    standings: list[CombinedStanding] = Field(default_factory=list)
    human: Estimate
    automatic: Estimate
    combined: Estimate
    tuning: float | None = None
    """Weight of the automatic votes (λ of PPI++), in [0, 1]."""
    human_votes_unused: int
    """Number of human votes that do not count: those on battles without an automatic vote, and those of
    systems that cannot be ranked."""
    received: int
    method: Method

    def table(self) -> Table:
        """One row per system: three ratings, each with its interval."""
        return combined_table(self.standings, self.method.level, self.note or self.state.words)


class PairsView(Drawn, StateView):
    """Every pair of systems on one board, in the order of `systems`."""

    systems: list[str] = Field(default_factory=list)
    """Names of the systems, best first, the unranked last."""
    pairs: list[Pairing] = Field(default_factory=list)

    def table(self) -> DrawnTable:
        """One row per two systems."""
        return pairs_table(f"{self.arena}: {self.lens.value}", self.pairs, self.method.level)


class AdviceView(StateView):
    """How many battles are still needed to tell neighbours apart, and which to run next."""

    neighbours: list[Neighbours] = Field(default_factory=list)
    next: list[NextBattle] = Field(default_factory=list)
    unranked: list[Unranked] = Field(default_factory=list)
    power: float

    def table(self) -> Table:
        """One row per two neighbours."""
        notes = (self.note,) if self.note else ()
        return neighbours_table(self.neighbours, self.method.level, self.power, notes)


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


class AgreementView(Tabular, View):
    """Agreement between the lenses of an arena."""

    arena: str
    pairs: list[LensAgreement]
    labels: list[LabelAgreementView] | None = None
    """Second assigners, one per name and model; null where a filter selects battles, because labels are
    counted for whole arenas."""
    received: int
    tie_policy: TiePolicy
    slice: Slice

    def table(self) -> Table:
        """One row per two lenses."""
        names = ("battles", "agreed", "inverted", "kappa", "systems", "tau_b", "rho")
        columns = (
            text("first"),
            text("second"),
            *(number(name) if name in ("kappa", "tau_b", "rho") else count(name) for name in names),
        )
        rows = tuple(
            (
                one.first_evaluator or one.first,
                one.second_evaluator or one.second,
                *(getattr(one, name) for name in names),
            )
            for one in self.pairs
        )
        return Table(f"{self.arena}: agreement of lenses", columns, rows)
