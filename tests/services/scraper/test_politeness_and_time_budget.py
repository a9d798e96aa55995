"""Slots of a host, and time budgets, with a clock that the test controls."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.scraper.clock import Clock
from services.scraper.outcome import Quality, Unfetchable
from services.scraper.politeness import HostLimiter
from services.scraper.time_budget import TimeBudget


class HandClock(Clock):
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


async def test_requests_to_one_host_are_spaced_and_other_hosts_do_not_wait() -> None:
    clock = HandClock()
    limiter = HostLimiter(per_host=2, max_wait=60, clock=clock)
    starts = []
    for host in ("a", "a", "b", "a"):
        async with limiter.slot(host, 0.5):
            starts.append((host, clock.seconds))
    assert starts == [("a", 0.0), ("a", 0.5), ("b", 0.5), ("a", 1.0)]


async def test_no_more_than_the_allowed_number_visit_a_host_at_once() -> None:
    limiter = HostLimiter(per_host=2, max_wait=60, clock=HandClock())
    inside, most, leave = 0, 0, asyncio.Event()

    async def visit() -> None:
        nonlocal inside, most
        async with limiter.slot("a", 0):
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
    limiter = HostLimiter(per_host=1, max_wait=0.01, clock=Clock())
    async with limiter.slot("a", 0):
        with pytest.raises(Unfetchable) as busy:
            async with limiter.slot("a", 0):
                pytest.fail("two at once")
    assert busy.value.quality is Quality.TIMEOUT


async def test_hosts_are_forgotten_when_nobody_needs_them() -> None:
    clock = HandClock()
    limiter = HostLimiter(per_host=1, max_wait=60, clock=clock)
    for number in range(5000):
        clock.seconds += 1
        async with limiter.slot(f"host{number}", 0.5):
            pass
    assert len(limiter) < 300


async def test_a_budget_is_spent_over_several_steps() -> None:
    budget = TimeBudget(0.05, Clock())

    async def drip() -> None:
        for _ in range(100):
            async with budget.spend():
                await asyncio.sleep(0.01)

    with pytest.raises(Unfetchable) as spent:
        await drip()
    assert spent.value.quality is Quality.TIMEOUT
