"""What is away is waited for, for a limited time."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from nuggetstream.domain.failure import Reason
from services.cli.wiring.process import StoppedWaiting
from services.cli.wiring.waiting import Patience
from services.runtime.errors import Outage


def away(times: int) -> tuple[Callable[[], Awaitable[int]], list[int]]:
    """An attempt that meets an outage so many times and then returns; and the attempts that were made."""
    made: list[int] = []

    async def attempt() -> int:
        made.append(len(made) + 1)
        if len(made) <= times:
            raise Outage(Reason.DEADLINE, "the database is away")
        return len(made)

    return attempt, made


async def test_an_outage_is_waited_for() -> None:
    attempt, _ = away(3)
    assert await Patience(3600.0, asyncio.Event(), pause=0.001).until_available(attempt) == 4


async def test_after_the_limit_the_outage_is_the_error() -> None:
    attempt, made = away(1_000_000)
    with pytest.raises(Outage, match="the database is away"):
        await Patience(0.01, asyncio.Event(), pause=0.001).until_available(attempt)
    assert made
    once, made = away(1)
    with pytest.raises(Outage):
        await Patience(0.0, asyncio.Event()).until_available(once)
    assert made == [1]


async def test_a_signal_ends_the_waiting() -> None:
    attempt, made = away(1_000_000)
    stop = asyncio.Event()
    stop.set()
    with pytest.raises(StoppedWaiting):
        await Patience(3600.0, stop).until_available(attempt)
    assert made == [1]


async def test_another_error_is_not_waited_for() -> None:
    async def attempt() -> None:
        raise ValueError("bug")

    with pytest.raises(ValueError, match="bug"):
        await Patience(3600.0, asyncio.Event()).until_available(attempt)
