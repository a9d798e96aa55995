"""Ratings as JSON.

A number that does not exist is null, and another field gives the reason.
"""

from datetime import datetime
from typing import Literal

from pydantic import Field

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.files.boards import board_table, timeline_table
from nuggetstream.files.tables import Table, Tabular
from nuggetstream.views.common import View

BoardState = Literal["ranked", "empty", "nobody_ranked", "all_tied"]
IntervalState = Literal["bounded", "unbounded_below", "unbounded_above", "unbounded", "degenerate", "fixed"]


class SliceView(View):
    """The filter of battles: those that meet every condition; null and empty are no condition."""

    language: str | None = None
    tags: list[str] = Field(default_factory=list)
    since: datetime | None = None
    until: datetime | None = None
    evaluator: str | None = None
    """The judge whose verdicts count in the lens of the judge; null for the common verdict of all judges."""
    expected: bool = False
    """Whether automatic outcomes count by their probabilities, where these are known."""
    flagged: Flagged = Flagged.INCLUDE
    """Whether battles with a flagged answer count."""


class AnchorView(View):
    """The system whose rating is fixed."""

    system: str
    rating: float


class MethodView(View):
    """How ratings were computed."""

    tie_policy: str
    tie_parameter: float | None = None
    """ν of Davidson, κ of Rao and Kupper; null for policies without one."""
    bootstrap: str | None = None
    """Null for sandwich intervals."""
    intervals: str
    level: float
    resamples: int
    unranked_resamples: int
    """Number of resamples that could not be ranked; each of them widens the intervals."""
    anchor: AnchorView | None = None
    """Null where the mean rating is 1000."""
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
    """Null where there are no resamples, or where they do not determine it."""
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
    """Number of all votes of this kind."""


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


class BoardView(Tabular, View):
    """One leaderboard, with the number of battles that it rests on."""

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
    """Number of outcomes counted, one per battle; of several judges, what more than half of them say."""
    evaluators: list[str] = Field(default_factory=list)
    """Names of all judges with outcomes in the arena and lens; empty for the lenses human and nugget."""
    probable: int | None = None
    """Number of outcomes that counted by their probabilities; null where all count as they are."""
    flagged: int = 0
    """Number of battles received with a flagged answer, whether they count or not."""
    tie_policy: str
    resamples: int
    level: float
    method: MethodView

    def table(self) -> Table:
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
    standings: list[StandingView] = Field(default_factory=list)


class TimelineView(Tabular, View):
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

    def table(self) -> Table:
        """One row per period and system."""
        return timeline_table(f"{self.arena}: {self.lens.value}", self.periods, self.method.level)
