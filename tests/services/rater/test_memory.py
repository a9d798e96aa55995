"""Heavy results: computed once for all who ask, off the event loop, a bounded number kept."""

import asyncio
import threading

import pytest

from services.rater.memory import Memory
from services.runtime.errors import Unavailable


class Counting:
    """A computation that counts its runs and waits until it may end."""

    def __init__(self) -> None:
        self.runs = 0
        self.threads: set[int] = set()
        self.may_end = threading.Event()

    def __call__(self) -> int:
        self.runs += 1
        self.threads.add(threading.get_ident())
        assert self.may_end.wait(30)
        return self.runs


async def test_who_asks_for_the_same_at_once_waits_for_one_computation() -> None:
    memory, compute = Memory(), Counting()
    asking = [asyncio.create_task(memory.get("board", compute)) for _ in range(5)]
    await asyncio.sleep(0)
    compute.may_end.set()
    assert await asyncio.gather(*asking) == [1] * 5
    assert await memory.get("board", compute) == 1
    assert compute.threads.isdisjoint({threading.get_ident()})


async def test_who_stops_waiting_stops_nothing() -> None:
    memory, compute = Memory(), Counting()
    asking = asyncio.create_task(memory.get("board", compute))
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    compute.may_end.set()
    assert await memory.get("board", compute) == 1


async def test_an_error_is_told_and_not_kept() -> None:
    memory, failing = Memory(), [True]

    def compute() -> str:
        if failing:
            raise ValueError(failing.pop())
        return "fine"

    with pytest.raises(ValueError, match="True"):
        await memory.get("board", compute)
    assert await memory.get("board", compute) == "fine"


async def test_only_the_results_asked_for_last_are_kept() -> None:
    memory, runs = Memory(limit=2), []

    async def ask(key: str) -> None:
        await memory.get(key, lambda: runs.append(key))

    for key in ("x", "y", "x", "z", "x", "y"):
        await ask(key)
    assert runs == ["x", "y", "z", "y"]
    assert len(memory) == 2


async def test_only_so_many_are_computed_at_a_time() -> None:
    memory, computes = Memory(at_once=1), [Counting(), Counting()]
    first = asyncio.create_task(memory.get(0, computes[0]))
    second = asyncio.create_task(memory.get(1, computes[1]))
    while not computes[0].runs:
        await asyncio.sleep(0.001)
    assert computes[1].runs == 0
    for compute in computes:
        compute.may_end.set()
    assert [await first, await second] == [1, 1]


async def test_a_line_that_is_full_takes_nobody_more_and_empties_again() -> None:
    memory, computes = Memory(at_once=1, most_waiting=1), [Counting(), Counting()]
    asking = [asyncio.create_task(memory.get(key, compute)) for key, compute in enumerate(computes)]
    await asyncio.sleep(0)
    for task in asking:
        task.cancel()  # nobody asks any more, and the work goes on all the same
    with pytest.raises(Unavailable, match="2 other results"):
        await memory.get("third", lambda: 3)
    for compute in computes:
        compute.may_end.set()
    assert [await memory.get(key, compute) for key, compute in enumerate(computes)] == [1, 1]
    assert await memory.get("third", lambda: 3) == 3
