"""Boards that are computed after a start, before anybody asks."""

import asyncio

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.ratings.fitting.weights import WeightMemory
from services.rater import boards as rated
from services.rater.boards import Boards
from services.rater.warming import Warming
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcomes import Outcomes
from tests import samples
from tests.samples import NOON
from tests.services.rater.test_rater import keep


async def stored(database: Database) -> None:
    """Battles with verdicts of two judges."""
    for name in ("b1", "b2", "b3"):
        await Battles(database).accept(samples.battle(name), b"", NOON)
    await keep(database, ("b1", "x", Vote.A), ("b2", "x", Vote.B), ("b3", "x", Vote.A))


async def warmed(boards: Boards) -> None:
    """Wait until the boards of an arena are there."""
    stop = asyncio.Event()
    warming = asyncio.create_task(Warming(boards, INDEPENDENT, delay=0.0).run(stop))
    async with asyncio.timeout(90):
        while len(boards.memory) < len(INDEPENDENT):
            await asyncio.sleep(0.01)
    stop.set()
    await warming


async def test_the_first_reader_gets_a_board_that_is_there(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    await stored(record)
    boards = Boards(Outcomes(record), Battles(record), resamples=10)
    await warmed(boards)
    monkeypatch.setattr(rated, "board_of_counts", None)  # whoever computes a board fails
    (judge,) = await boards.get("default", [Lens.JUDGE])
    assert {standing.system for standing in judge.standings} == {"left", "right"}


async def test_nothing_is_computed_once_the_memory_is_half_full(record: Database) -> None:
    await stored(record)
    boards = Boards(Outcomes(record), Battles(record), resamples=10, weights=WeightMemory(limit=8))
    boards.weights.get(((0,), 0, b""), lambda: np.zeros(2, np.float32))
    await Warming(boards, INDEPENDENT).compute(asyncio.Event())
    assert len(boards.memory) == 0
