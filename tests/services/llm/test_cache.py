"""Identical asks share one piece of work, and nobody's cancellation is anybody else's."""

import asyncio

import pytest

from services.runtime.llm.cache import MemoryReplyCache, SingleFlight


class Work:
    """Counts how often it is begun, and waits to be let go."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0
        self.started = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self) -> str:
        self.begun += 1
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "done"


async def test_identical_asks_share_one_piece_of_work() -> None:
    flights, work = SingleFlight[str](), Work()
    asks = [asyncio.create_task(flights.run("k", work)) for _ in range(5)]
    await work.started.wait()
    work.release.set()
    assert sorted(await asyncio.gather(*asks)) == [("done", False)] + [("done", True)] * 4
    assert work.begun == 1


async def test_the_one_who_started_may_leave_without_taking_the_work_along() -> None:
    flights, work = SingleFlight[str](), Work()
    first = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    second = asyncio.create_task(flights.run("k", work))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.release.set()
    assert await second == ("done", True)
    assert (work.begun, work.cancelled) == (1, 0)


async def test_the_last_to_leave_ends_the_work_and_the_next_begins_anew() -> None:
    flights, work = SingleFlight[str](), Work()
    only = asyncio.create_task(flights.run("k", work))
    await work.started.wait()
    only.cancel()
    again = asyncio.create_task(flights.run("k", work))
    with pytest.raises(asyncio.CancelledError):
        await only
    work.release.set()
    result, joined = await again
    assert result == "done"
    assert (joined, work.begun, work.cancelled) == (False, 2, 1)


async def test_an_error_reaches_everyone_and_is_not_remembered() -> None:
    flights = SingleFlight[str]()
    gate = asyncio.Event()

    async def failing() -> str:
        await gate.wait()
        raise ValueError("broken")

    async def working() -> str:
        return "fine"

    asks = [asyncio.create_task(flights.run("k", failing)) for _ in range(2)]
    await asyncio.sleep(0)
    gate.set()
    results = await asyncio.gather(*asks, return_exceptions=True)
    assert [str(result) for result in results] == ["broken", "broken"]
    assert await flights.run("k", working) == ("fine", False)


async def test_the_first_text_under_a_key_stays() -> None:
    cache = MemoryReplyCache()
    await cache.put("k", "first")
    await cache.put("k", "second")
    assert await cache.get("k") == "first"
    assert await cache.get("other") is None
