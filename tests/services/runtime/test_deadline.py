"""A deadline that stands still while it is held, on the clock of the loop, which the test moves."""

import asyncio

import pytest

from services.runtime.deadline import Deadline, held


def pass_seconds(seconds: float) -> None:
    """Move the clock of the running loop."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]


async def turns() -> None:
    """Let timers that are due run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def hang(deadline: Deadline, *, before: float, held_for: float, after: float) -> None:
    async with deadline:
        pass_seconds(before)
        with held():
            pass_seconds(held_for)
        pass_seconds(after)
        await asyncio.Event().wait()


async def test_what_takes_too_long_is_ended() -> None:
    deadline = Deadline(100.0)
    with pytest.raises(TimeoutError):
        await hang(deadline, before=101.0, held_for=0.0, after=0.0)
    assert deadline.expired


async def test_time_in_which_it_is_held_does_not_count() -> None:
    async with Deadline(100.0) as deadline:
        pass_seconds(60.0)
        with held():
            pass_seconds(10_000.0)
            await turns()
        pass_seconds(30.0)
        await turns()
    assert not deadline.expired


async def test_time_before_and_after_counts() -> None:
    with pytest.raises(TimeoutError):
        await hang(Deadline(100.0), before=60.0, held_for=10_000.0, after=50.0)


async def test_several_tasks_hold_it_until_the_last_ends() -> None:
    first, second = asyncio.Event(), asyncio.Event()

    async def ask(ends: asyncio.Event) -> None:
        with held():
            await ends.wait()

    async with Deadline(100.0) as deadline:
        asks = [asyncio.create_task(ask(event)) for event in (first, second)]
        await turns()
        first.set()
        await turns()
        pass_seconds(10_000.0)
        await turns()
        second.set()
        await asyncio.gather(*asks)
    assert not deadline.expired


async def test_without_a_deadline_nothing_is_held() -> None:
    with held():
        pass_seconds(10_000.0)
        await turns()
    async with Deadline(100.0):
        pass
    with held():
        await turns()


async def test_a_task_that_outlives_the_attempt_releases_nothing() -> None:
    ends = asyncio.Event()

    async def ask() -> None:
        with held():
            await ends.wait()

    async with Deadline(100.0):
        task = asyncio.create_task(ask())
        await turns()
    ends.set()
    await task
    assert task.exception() is None
