"""Sharing work and taking turns, on a clock turned by hand."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.scraper.budget import Budget
from services.scraper.clock import SystemClock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.politeness import HostTurns
from services.scraper.single_flight import Retention, SingleFlight


class HandClock:
    """Sleeping moves the time and nothing waits."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2025, 1, 1, tzinfo=UTC) + timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


class Work:
    def __init__(self, *values: str) -> None:
        self.values = list(values)
        self.runs = 0
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self) -> str:
        self.runs += 1
        await self.gate.wait()
        return self.values.pop(0)


def flights(clock: HandClock, entries: int = 10, weight: int = 100) -> SingleFlight[str]:
    return SingleFlight(clock, Retention(entries, weight), lifetime=lambda value: 10.0, weight=len)


async def test_concurrent_callers_share_one_run() -> None:
    shared, work = flights(HandClock()), Work("a", "b")
    assert await asyncio.gather(*(shared.get("k", work) for _ in range(5))) == ["a"] * 5
    assert work.runs == 1


async def test_a_result_is_remembered_until_it_is_too_old() -> None:
    clock, work = HandClock(), Work("old", "new")
    shared = flights(clock)
    assert await shared.get("k", work) == "old"
    clock.seconds = 9.9
    assert await shared.get("k", work) == "old"
    clock.seconds = 10.1
    assert await shared.get("k", work) == "new"


async def test_a_caller_that_gives_up_does_not_take_the_result_from_the_others() -> None:
    shared, work = flights(HandClock()), Work("a")
    work.gate.clear()
    impatient = asyncio.create_task(shared.get("k", work))
    patient = asyncio.create_task(shared.get("k", work))
    await asyncio.sleep(0)
    impatient.cancel()
    work.gate.set()
    assert await patient == "a"
    assert impatient.cancelled()


async def test_memory_is_bounded_by_count_and_by_weight() -> None:
    shared, again = flights(HandClock(), entries=2), Work("again")
    for key in "abc":
        await shared.get(key, Work(key))
    assert await shared.get("c", again) == "c"
    assert await shared.get("a", again) == "again"

    heavy, refill = flights(HandClock(), weight=10), Work("refill")
    await heavy.get("x", Work("x" * 6))
    await heavy.get("y", Work("y" * 6))
    assert await heavy.get("x", refill) == "refill"


async def test_a_failure_reaches_every_caller_and_is_not_remembered() -> None:
    shared = flights(HandClock())

    async def broken() -> str:
        raise ValueError("broken")

    results = await asyncio.gather(shared.get("k", broken), shared.get("k", broken), return_exceptions=True)
    assert [type(result) for result in results] == [ValueError, ValueError]
    assert await shared.get("k", Work("fine")) == "fine"


async def test_requests_to_one_host_are_spaced_and_other_hosts_do_not_wait() -> None:
    clock = HandClock()
    turns = HostTurns(per_host=2, patience=60, clock=clock)
    starts = []
    for host in ("a", "a", "b", "a"):
        async with turns.turn(host, 0.5):
            starts.append((host, clock.seconds))
    assert starts == [("a", 0.0), ("a", 0.5), ("b", 0.5), ("a", 1.0)]


async def test_no_more_than_the_allowed_number_visit_a_host_at_once() -> None:
    turns = HostTurns(per_host=2, patience=60, clock=HandClock())
    inside, most, leave = 0, 0, asyncio.Event()

    async def visit() -> None:
        nonlocal inside, most
        async with turns.turn("a", 0):
            inside += 1
            most = max(most, inside)
            await leave.wait()
            inside -= 1

    visits = [asyncio.create_task(visit()) for _ in range(6)]
    while most < 2:
        await asyncio.sleep(0)
    leave.set()
    await asyncio.gather(*visits)
    assert most == 2


async def test_a_host_that_stays_busy_ends_in_a_timeout() -> None:
    turns = HostTurns(per_host=1, patience=0.01, clock=SystemClock())
    async with turns.turn("a", 0):
        with pytest.raises(Unfetchable) as busy:
            async with turns.turn("a", 0):
                pytest.fail("two at once")
    assert busy.value.quality is Quality.TIMEOUT


async def test_hosts_are_forgotten_when_nobody_needs_them() -> None:
    clock = HandClock()
    turns = HostTurns(per_host=1, patience=60, clock=clock)
    for number in range(5000):
        clock.seconds += 1
        async with turns.turn(f"host{number}", 0.5):
            pass
    assert len(turns) < 300


async def test_a_budget_is_spent_over_several_steps() -> None:
    budget = Budget(0.05, SystemClock())

    async def drip() -> None:
        for _ in range(100):
            async with budget.spend():
                await asyncio.sleep(0.01)

    with pytest.raises(Unfetchable) as spent:
        await drip()
    assert spent.value.quality is Quality.TIMEOUT
