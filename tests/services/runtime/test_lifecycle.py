"""From signal to exit code."""

import asyncio
import os
import signal
import subprocess
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


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_without_grace_a_signal_cancels_a_program_that_does_not_look_at_the_event(number, code):
    ended = []

    async def main(_: asyncio.Event) -> None:
        os.kill(os.getpid(), number)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    assert await run_until_signal(main, grace=0.0) == code
    assert ended == ["cleaned up"]


async def test_a_program_says_its_exit_code_and_the_signal_is_announced_once():
    announced = []

    async def main(stop: asyncio.Event) -> int:
        os.kill(os.getpid(), signal.SIGINT)
        await stop.wait()
        return 130

    code = await run_until_signal(main, grace=9.0, on_stop=lambda *what: announced.append(what))
    assert code == 130
    assert announced == [(signal.SIGINT, 9.0)]


TWICE = """
import asyncio, os, signal
from services.runtime.lifecycle import run_until_signal

async def main(stop):
    os.kill(os.getpid(), signal.SIGINT)
    await stop.wait()
    os.kill(os.getpid(), signal.SIGINT)
    await asyncio.Event().wait()

asyncio.run(run_until_signal(main))
"""


def test_the_second_signal_ends_a_process_at_once():
    ended = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=False)
    assert ended.returncode == 130
    assert ended.stdout.count("stopping") == 1
    assert ended.stderr == ""


async def test_threads_of_a_program_take_short_turns():
    turns = []

    async def main(_: asyncio.Event) -> None:
        turns.append(sys.getswitchinterval())

    sys.setswitchinterval(0.005)
    await run_until_signal(main)
    assert turns == [pytest.approx(0.001)]


async def test_the_signal_handlers_are_given_back():
    async def done(_: asyncio.Event) -> None: ...

    before = signal.signal(signal.SIGINT, handler := lambda *_: None)
    try:
        terminating = signal.getsignal(signal.SIGTERM)
        await run_until_signal(done)
        assert signal.getsignal(signal.SIGTERM) == terminating
        assert signal.getsignal(signal.SIGINT) == handler
    finally:
        signal.signal(signal.SIGINT, before)
