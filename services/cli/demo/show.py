"""A live table of the battles in flight: one row per battle, one column per stage."""

import asyncio
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from nuggetstream.domain.progress import BattleState
from services.cli.embedded import Embedded
from services.store.battles import BattleRow, Battles
from services.store.event_reading import RecordedEvent

STEPS = ("submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged")
_INTERVAL = 0.25  # seconds
_QUERY_WIDTH = 46


class Stream:
    """Shows battles in flight: a live table on a terminal, elsewhere a line per finished battle.

    Args:
        console: Where to print.
        platform: The running platform.
        ids: Ids of the battles, in order.
    """

    def __init__(self, console: Console, platform: Embedded, ids: list[str]) -> None:
        self._console = console
        self._battles = Battles(platform.database)
        self._ids = ids
        self._announced: set[str] = set()
        self._live = Live(console=console, auto_refresh=False) if console.is_terminal else None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        self._task = asyncio.create_task(self._follow())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._update()
        if self._live is not None:
            self._live.stop()

    async def _follow(self) -> None:
        while True:
            await self._update()
            await asyncio.sleep(_INTERVAL)

    async def _update(self) -> None:
        rows = [(row, await self._battles.events_of(row.id)) for row in await self._received()]
        if self._live is not None:
            self._live.update(table(rows), refresh=True)
            return
        for row, events in rows:
            if row.ended_at is not None and row.id not in self._announced:
                self._announced.add(row.id)
                self._console.print(_line(row, events), highlight=False)

    async def _received(self) -> list[BattleRow]:
        rows = [await self._battles.get(battle_id) for battle_id in self._ids]
        return [row for row in rows if row is not None]


def table(rows: list[tuple[BattleRow, list[RecordedEvent]]]) -> Table:
    """A table of battles and the stages that each has passed."""
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("battle")
    grid.add_column("query", max_width=_QUERY_WIDTH, no_wrap=True, overflow="ellipsis")
    for step in STEPS:
        grid.add_column(step, justify="center")
    grid.add_column("seconds", justify="right")
    for row, events in rows:
        done = {event.name for event in events}
        failed = "failed" in done
        marks = [_mark(step in done, failed and row.ended_at is not None) for step in STEPS]
        grid.add_row(row.id, row.query, *marks, _seconds(row))
    return grid


def _mark(done: bool, failed: bool) -> str:
    if done:
        return "[green]✓[/green]"
    return "[red]✗[/red]" if failed else "[dim]·[/dim]"


def _seconds(row: BattleRow) -> str:
    return "" if row.ended_at is None else f"{(row.ended_at - row.received_at).total_seconds():.1f}"


def _line(row: BattleRow, events: list[RecordedEvent]) -> str:
    done = {event.name for event in events}
    steps = " → ".join(step for step in STEPS[1:] if step in done)
    state = "" if row.state is BattleState.SCORED else f"  [{row.state.value}]"
    return f"{row.id}  {_seconds(row):>5} s  {steps}{state}"
