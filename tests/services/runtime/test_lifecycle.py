"""From signal to exit code."""

import asyncio
import os
import signal
import sys

import pytest

from services.runtime.lifecycle import run_until_signal


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_sets_the_event_and_a_program_that_heeds_it_exits_with_0(number):
    async def main(stop: asyncio.Event) -> None:
        os.kill(os.getpid(), number)
        await stop.wait()

    assert await run_until_signal(main) == 0


async def test_a_program_that_overruns_its_grace_is_cancelled_and_exits_with_1():
    ended = []

    async def main(stop: asyncio.Event) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    assert await run_until_signal(main, grace=0.05) == 1
    assert ended == ["cleaned up"]


async def test_a_program_that_ends_by_itself_exits_with_0_and_one_that_fails_raises():
    async def done(_: asyncio.Event) -> None: ...

    async def fail(_: asyncio.Event) -> None:
        raise LookupError("no database")

    assert await run_until_signal(done) == 0
    with pytest.raises(LookupError, match="no database"):
        await run_until_signal(fail)


async def test_threads_of_a_program_take_short_turns():
    turns = []

    async def main(_: asyncio.Event) -> None:
        turns.append(sys.getswitchinterval())

    sys.setswitchinterval(0.005)
    await run_until_signal(main)
    assert turns == [pytest.approx(0.001)]


async def test_the_signal_handlers_are_given_back():
    async def done(_: asyncio.Event) -> None: ...

    before = signal.getsignal(signal.SIGTERM)
    await run_until_signal(done)
    assert signal.getsignal(signal.SIGTERM) == before
