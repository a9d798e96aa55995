"""Heavy results: computed in a thread, a bounded number at a time; the shared cache is tested apart."""

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
        self.started = threading.Event()
        self.may_end = threading.Event()

    def __call__(self) -> int:
        self.runs += 1
        self.threads.add(threading.get_ident())
        self.started.set()
        assert self.may_end.wait(30)
        return self.runs


async def test_a_result_is_computed_once_and_never_on_the_event_loop() -> None:
    memory, compute = Memory(), Counting()
    callers = [asyncio.create_task(memory.computed("board", compute)) for _ in range(5)]
    await asyncio.to_thread(compute.started.wait, 30)
    compute.may_end.set()
    assert await asyncio.gather(*callers) == [1] * 5
    assert await memory.computed("board", compute) == 1
    assert compute.threads.isdisjoint({threading.get_ident()})


async def test_the_number_of_results_kept_is_bounded() -> None:
    memory = Memory(limit=2)
    for key in range(5):
        assert await memory.computed(key, lambda key=key: key) == key
    assert len(memory) == 2


async def test_a_full_waiting_line_is_answered_at_once() -> None:
    memory, computes = Memory(at_once=1, most_waiting=1), [Counting(), Counting()]
    callers = [asyncio.create_task(memory.computed(key, compute)) for key, compute in enumerate(computes)]
    await asyncio.to_thread(computes[0].started.wait, 30)
    assert computes[1].runs == 0
    with pytest.raises(Unavailable, match="2 other results"):
        await memory.computed("third", lambda: 3)
    for compute in computes:
        compute.may_end.set()
    assert await asyncio.gather(*callers) == [1, 1]
    assert await memory.computed("third", lambda: 3) == 3
