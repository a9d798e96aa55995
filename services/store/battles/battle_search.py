"""Battles by filters, newest first, page by page, in a bounded time.

    a filter, where the page before ended  ->  the next battles, and where to go on

One search reads at most `WINDOW` battles from the index of their times, so that a filter that selects
nothing does not read a million of them. Where a window ends before the page is full, the page says from
where to search further back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, exists, func, not_, or_, select, tuple_

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import BRANCHES
from nuggetstream.domain.progress import BattleState, Branch
from nuggetstream.domain.slice import Slice
from services.store.battles.battles import BATTLE_ROWS, BattleRow, battle_row
from services.store.database import Database
from services.store.outcomes.slices import FLAGGED, conditions_of
from services.store.tables import battles, outcomes

WINDOW = 50_000  # battles that one search reads at most
_BRANCHES = tuple(battles.c[name] for name in BRANCHES)


@dataclass(frozen=True, slots=True)
class BattleFilter:
    """Which battles to list; every condition that is given must hold.

    Attributes:
        arena: Arena of the battles; all arenas when None.
        text: Words that must all occur in the query, in any case.
        systems: Names of systems that each wrote one of the answers; one or two.
        tag: A tag of the battle.
        language: Language tag, declared or detected.
        state: State of the battle.
        disagreeing: Whether two of people, nuggets and judge must prefer different answers.
        nuggets: Preference by nuggets that may disagree with others: `Lens.NUGGET` or `Lens.GROUNDED`.
        flagged: Whether an answer must be flagged.
        within: Arenas that the reader may see; None for all.
    """

    arena: str | None = None
    text: str | None = None
    systems: tuple[str, ...] = ()
    tag: str | None = None
    language: str | None = None
    state: BattleState | None = None
    disagreeing: bool = False
    nuggets: Lens = Lens.NUGGET
    flagged: bool = False
    within: frozenset[str] | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether there is a condition that no index answers in the order of time."""
        given = (self.text, self.tag, self.language, self.state)
        return self.disagreeing or bool(self.systems) or any(value is not None for value in given)

    def conditions(self, *, sqlite: bool) -> list[ColumnElement[bool]]:
        """The conditions on the table `battles`, without that on the arena."""
        filters = conditions_of(
            Slice(language=self.language, tags=() if self.tag is None else (self.tag,)), sqlite=sqlite
        )
        filters += [_mentions(word) for word in (self.text or "").split()]
        filters += [or_(battles.c.system_a == name, battles.c.system_b == name) for name in self.systems]
        if self.state is not None:
            filters.append(_STATES[self.state])
        if self.disagreeing:
            filters.append(_LENSES_DISAGREE[self.nuggets])
        if self.flagged:
            filters.append(FLAGGED)
        return filters


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the list of battles by time: older battles come after it.

    Attributes:
        received_at: When the battle before was received.
        battle_id: Id of that battle; "" for a time before which no battle was read.
    """

    received_at: datetime
    battle_id: str


@dataclass(frozen=True, slots=True)
class BattlePage:
    """One page of a list.

    Attributes:
        rows: The battles, newest first.
        next: From where the next page goes on; None after the last one.
        is_cut: Whether the search ended because it had read `WINDOW` battles.
    """

    rows: list[BattleRow]
    next: Position | None
    is_cut: bool = False


class BattleSearch:
    """Searches the battles table.

    Args:
        database: The database.
        window: Maximum number of battles that one search reads.
    """

    def __init__(self, database: Database, window: int = WINDOW) -> None:
        self._database = database
        self._window = window

    async def page(self, selection: BattleFilter, limit: int, after: Position | None = None) -> BattlePage:
        """One page of the battles that a filter selects, newest first.

        Args:
            selection: The filter.
            limit: Maximum number of battles.
            after: Where the page before ended; None for the first page.

        Raises:
            Unavailable: The database does not answer.
        """
        start = _start(selection, after)
        query = BATTLE_ROWS.where(*start, *selection.conditions(sqlite=self._database.is_sqlite))
        async with self._database.reading() as tx:
            oldest = await tx.scalar(_boundary(start, self._window)) if selection.is_narrow else None
            if oldest is not None:
                query = query.where(battles.c.received_at >= oldest)
            query = query.order_by(battles.c.received_at.desc(), battles.c.id.desc()).limit(limit + 1)
            rows = [battle_row(row) for row in await tx.execute(query)]
        if len(rows) > limit:
            last = rows[limit - 1]
            return BattlePage(rows[:limit], Position(last.received_at, last.id))
        if oldest is not None:
            return BattlePage(rows, Position(oldest, ""), is_cut=True)
        return BattlePage(rows, None)


def _start(selection: BattleFilter, after: Position | None) -> list[ColumnElement[bool]]:
    arena, within = selection.arena, selection.within
    conditions: list[ColumnElement[bool]] = [] if arena is None else [battles.c.arena == arena]
    if within is not None:
        conditions.append(battles.c.arena.in_(sorted(within)))
    if after is not None:
        conditions.append(battles.c.received_at <= after.received_at)  # for the index
        key = tuple_(battles.c.received_at, battles.c.id)
        conditions.append(key < tuple_(after.received_at, after.battle_id))
    return conditions


def _boundary(start: list[ColumnElement[bool]], window: int) -> Select[Any]:
    """When the first battle beyond the window was received."""
    query = select(battles.c.received_at).where(*start)
    return query.order_by(battles.c.received_at.desc()).offset(window).limit(1)


def _mentions(word: str) -> ColumnElement[bool]:
    # SQLite knows only the case of ASCII letters, so other words are looked for in each spelling.
    spellings = {word} if word.isascii() else {word, word.lower(), word.upper(), word.capitalize()}
    return or_(*(battles.c.query.icontains(spelling, autoescape=True) for spelling in sorted(spellings)))


def _both(branch: Branch) -> ColumnElement[bool]:
    return and_(*(column == branch.value for column in _BRANCHES))


_RUNNING = or_(*(column == Branch.PENDING.value for column in _BRANCHES))
_STATES: Mapping[BattleState, ColumnElement[bool]] = {
    BattleState.RUNNING: _RUNNING,
    BattleState.SCORED: _both(Branch.DONE),
    BattleState.FAILED: _both(Branch.FAILED),
    BattleState.PARTIAL: not_(or_(_RUNNING, _both(Branch.DONE), _both(Branch.FAILED))),
}


def _disagreement(nuggets: Lens) -> ColumnElement[bool]:
    """Whether the lenses have several winners. "Both bad" is a tie; of several judges the first counts."""
    lenses = (Lens.HUMAN, nuggets, Lens.JUDGE)
    this, earlier = outcomes.alias(), outcomes.alias()
    is_later = exists().where(
        earlier.c.battle_id == this.c.battle_id,
        earlier.c.lens == this.c.lens,
        earlier.c.source < this.c.source,
    )
    winner = case((this.c.winner == Vote.BOTH_BAD.value, Vote.TIE.value), else_=this.c.winner)
    query: Select[Any] = select(func.count(winner.distinct())).where(
        this.c.battle_id == battles.c.id,
        this.c.lens.in_([lens.value for lens in lenses]),
        not_(is_later),
    )
    return query.correlate(battles).scalar_subquery() > 1


_LENSES_DISAGREE = {nuggets: _disagreement(nuggets) for nuggets in (Lens.NUGGET, Lens.GROUNDED)}
