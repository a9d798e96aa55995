"""Leaderboards with the style of the answers held equal, as JSON."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.files import tables
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.ratings.board_tables import bounds, interval_column
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.views.common import View

LEVEL = 0.95  # of all intervals


class StyleStandingView(View):
    """One system: its rating as voted and with style held equal, from the same battles."""

    system: str
    rating: float
    """As voted."""
    low: float | None = None
    """Null where the 95% interval has no lower bound; `interval_state` gives the reason."""
    high: float | None = None
    interval_state: IntervalState
    equal: float
    """Rating with style held equal."""
    equal_low: float | None = None
    equal_high: float | None = None
    equal_interval_state: IntervalState
    moved: int
    """Places that the system gains when style is held equal; negative where it loses some."""


class StyleEffectView(View):
    """How much one feature of style was preferred."""

    feature: Literal["length", "citations", "headers", "lists", "bold"]
    differs: int
    """Number of outcomes whose answers differ in it."""
    value: float | None = None
    """Logits per standard deviation of the relative difference: positive where more of it was preferred. Null
    where it is not held equal, because too few outcomes differ in it."""
    low: float | None = None
    """Lower bound of the 95% interval; null without a value."""
    high: float | None = None


class StyleBoardView(Tabular, View):
    """The ratings of one lens as voted and with style held equal, over the newest battles of an arena."""

    arena: str
    lens: Lens
    slice: Slice
    note: str | None = None
    """Why style cannot be held equal; null where it is."""
    standings: list[StyleStandingView] = Field(default_factory=list)
    """The best first, as voted; empty with a note."""
    effects: list[StyleEffectView] = Field(default_factory=list)
    outcomes: int
    """Number of outcomes that were read."""
    most_outcomes: int
    """Maximum of that number; the newest count."""
    window: int
    """Number of the newest battles among which outcomes were looked for; with a filter by time, of the newest
    battles of that time. Other filters select among these."""
    computed_at: datetime

    def table(self) -> Table:
        """One row per system."""
        columns = (
            tables.text("system"),
            tables.number("rating", digits=0),
            interval_column(LEVEL),
            tables.number("equal", "at equal style", digits=0),
            tables.interval("equal_low", "equal_high", "its interval", digits=0),
            tables.number("moved", "places gained", digits=0),
        )
        rows = tuple(
            (
                one.system,
                one.rating,
                bounds(one.low, one.high),
                one.equal,
                bounds(one.equal_low, one.equal_high),
                one.moved,
            )
            for one in self.standings
        )
        basis = f"From the newest {self.outcomes:,} outcomes among {self.window:,} battles."
        notes = (basis,) if self.note is None else (basis, self.note)
        return Table(f"{self.arena}: {self.lens.value}, style held equal", columns, rows, notes)
