"""Boards computed from the outcomes table, and the announcement that they changed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import structlog

from services.core.events import RatingsUpdated
from services.core.hashing import derived_id
from services.core.leaderboard import Board, leaderboard
from services.core.tally import Tally, TiePolicy
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.outcomes import Lens, Outcomes, PairCount

log = structlog.get_logger(__name__)

_SEED = 20250504  # any number; fixed, so that the same outcomes always give the same board


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One board with what it rests on.

    Attributes:
        scored: battles with an outcome in this lens.
        received: battles the arena sent.
    """

    arena: str
    lens: Lens
    board: Board
    scored: int
    received: int


@dataclass(slots=True)
class Boards:
    """Computes boards on demand; the last one is kept while its counts are the same.

    Attributes:
        outcomes: the counts.
        battles: to know how many were received.
        policy: what a tie says.
        resamples: of the bootstrap.
    """

    outcomes: Outcomes
    battles: Battles
    policy: TiePolicy = TiePolicy.HALF
    resamples: int = 1000
    _kept: dict[tuple[str, Lens], tuple[Sequence[PairCount], Board]] = field(default_factory=dict)

    async def get(self, arena: str, lenses: Sequence[Lens] = tuple(Lens)) -> list[LensBoard]:
        """The boards of one arena; an arena nobody has heard of has empty ones."""
        received = (await self.battles.arenas()).get(arena, 0)
        return [await self._one(arena, lens, received) for lens in lenses]

    async def _one(self, arena: str, lens: Lens, received: int) -> LensBoard:
        counts = await self.outcomes.pair_counts(arena, lens)
        known = self._kept.get((arena, lens))
        if known is None or known[0] != counts:
            known = counts, await asyncio.to_thread(self._compute, counts)
            if counts:  # anybody may ask for an arena that does not exist
                self._kept[arena, lens] = known
        return LensBoard(arena, lens, known[1], await self.outcomes.battles_decided(arena, lens), received)

    def _compute(self, counts: Sequence[PairCount]) -> Board:
        tally = Tally.count((c.system_a, c.system_b, c.winner, c.count) for c in counts)
        return leaderboard(tally, np.random.default_rng(_SEED), policy=self.policy, resamples=self.resamples)


@dataclass(slots=True)
class Announcer:
    """Says that boards changed, at most once per `pause` seconds and arena.

    Attributes:
        outcomes: to say how many outcomes an arena now has.
        publish: sends the event.
        pause: seconds between announcements.
    """

    outcomes: Outcomes
    publish: Callable[[RatingsUpdated], Awaitable[object]]
    pause: float = 1.0
    _changed: set[str] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)

    def changed(self, arena: str) -> None:
        """Note that an arena has a new outcome."""
        self._changed.add(arena)
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Announce until stopped; what is pending then is announced before returning."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                waking = asyncio.create_task(self._wake.wait())
                await asyncio.wait({waking, stopping}, return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                await self.announce()
                await asyncio.wait({stopping}, timeout=self.pause)
            await self.announce()
        finally:
            stopping.cancel()

    async def announce(self) -> None:
        """Publish one event for every arena that changed since the last time.

        An arena that cannot be announced now, because the broker or the database is away, stays noted.
        """
        self._wake.clear()
        for arena in sorted(self._changed):
            self._changed.discard(arena)  # before counting: what changes meanwhile is announced again
            try:
                await self._announce(arena)
            except Unavailable as error:
                log.warning("boards not announced", arena=arena, error=error.detail)
                self.changed(arena)

    async def _announce(self, arena: str) -> None:
        now, count = datetime.now(UTC), await self.outcomes.count(arena)
        key = derived_id("ratings", arena, count, now.isoformat())
        await self.publish(RatingsUpdated(key, arena, count, now))
