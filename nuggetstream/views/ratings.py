"""Ratings as JSON and as messages: what the rater computes, with the battles that it rests on.

A number that does not exist is null, and another field gives the reason.
"""

from datetime import datetime

from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.files.tables import Tabular
from nuggetstream.ratings.board_tables import board_table, timeline_table
from nuggetstream.ratings.method import Method
from nuggetstream.ratings.options import Every
from nuggetstream.ratings.standing import BoardState, Fragility, Standing
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.views.common import View


class LensView(Tabular, View):
    """What the battles of one lens say, with the number of battles that it rests on."""

    arena: str
    lens: Lens
    scored: int
    received: int
    method: Method


class StateView(LensView):
    """What a board says, and the state of the board."""

    state: BoardState
    """"empty": no battle has an outcome. "nobody_ranked": no two systems are linked both ways. "all_tied":
    every rating is equal, and its precision is unknown."""
    note: str | None = None
    """The notes as one text."""


class BoardView(Drawn, StateView):
    """One leaderboard."""

    notes: list[Note] = Field(default_factory=list)
    fragility: Fragility | None = None
    """How few votes decide the first place; null where nobody is ranked."""
    standings: list[Standing] = Field(default_factory=list)
    outcomes: int
    """Number of outcomes counted, one per battle; of several judges, what more than half of them say."""
    evaluators: list[str] = Field(default_factory=list)
    """Names of all judges with outcomes in the arena and lens; empty for the lenses human and nugget."""
    probable: int | None = None
    """Number of outcomes that counted by their probabilities; null where all count as they are."""
    flagged: int = 0
    """Number of battles received with a flagged answer, whether they count or not."""
    tie_policy: TiePolicy
    resamples: int
    level: float

    def table(self) -> DrawnTable:
        """One row per system."""
        basis = f"{self.scored:,} of {self.received:,} battles received have an outcome."
        notes = (basis, *(note.text for note in self.notes))
        return board_table(f"{self.arena}: {self.lens.value}", self.standings, self.level, notes)


class PeriodView(View):
    """The ratings from the battles received in one period."""

    start: datetime
    end: datetime
    """End of the period, exclusive."""
    votes: float
    state: BoardState
    standings: list[Standing] = Field(default_factory=list)


class TimelineView(Drawn, LensView):
    """Ratings of one lens over time; a period without battles has state `empty`."""

    every: Every
    cumulative: bool
    """Whether a period counts all battles since the beginning."""
    periods: list[PeriodView] = Field(default_factory=list)

    def table(self) -> DrawnTable:
        """One row per period and system."""
        periods = [(one.start, one.end, one.votes, one.standings) for one in self.periods]
        return timeline_table(f"{self.arena}: {self.lens.value}", periods, self.method.level)
