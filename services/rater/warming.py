"""Boards that are computed before anybody asks.

    start  ->  the boards of the largest arenas, as their pages ask for them

The first board of a lens over a hundred systems takes a quarter of a second, most of it for the weights of
its resamples. The boards are kept while nothing changes, and the weights when something does, so that the
first reader after a start waits no longer than others.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from nuggetstream.domain.lens import Lens
from services.rater.boards import Boards
from services.runtime.errors import StageError
from services.runtime.polling import pause

log = structlog.get_logger(__name__)
_ARENAS = 8


@dataclass(frozen=True, slots=True)
class Warming:
    """Computes boards once, after the start.

    Attributes:
        boards: Computes and keeps them.
        lenses: The lenses of a page that is asked for none.
        delay: Seconds after which it begins, so that the start is not slower.
    """

    boards: Boards
    lenses: Sequence[Lens]
    delay: float = 3.0

    async def run(self, stop: asyncio.Event) -> None:
        """Compute them, then wait until stopped; without the database readers compute their own."""
        await pause(self.delay, stop)
        try:
            await self.compute(stop)
        except StageError as error:
            log.info("boards_not_computed_ahead", reason=error.for_operators)
        await stop.wait()

    async def compute(self, stop: asyncio.Event) -> None:
        """The boards of the arenas with the most battles, until half of the memory for weights is used."""
        received = await self.boards.battles.arenas()
        for arena in sorted(received, key=lambda name: -received[name])[:_ARENAS]:
            for lens in self.lenses:
                if stop.is_set() or 2 * self.boards.weights.used > self.boards.weights.limit:
                    return
                await self.boards.get(arena, [lens])
