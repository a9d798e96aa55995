"""A limit of calls at once that finds itself, and calls that get their turn in order."""

import asyncio
import heapq
import random
from collections import deque
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from statistics import mode

import pytest

from services.runtime.llm.limiter import AdaptiveLimit, Limits, Slot


@dataclass
class Server:
    """An endpoint that does so many calls at once without delay, on a clock that only it moves.

    Attributes:
        parallel: Calls that it answers as fast as one.
        limit: The limit that learns from it.
    """

    parallel: int
    maximum: int = 64
    now: float = 0.0
    limit: AdaptiveLimit = field(init=False)

    def __post_init__(self) -> None:
        self.limit = AdaptiveLimit(self.maximum, clock=lambda: self.now)

    async def round(self) -> int:
        """As many calls at once as may run; returns how many."""
        async with AsyncExitStack() as stack:
            many = self.limit.value
            slots = [await stack.enter_async_context(self.limit.slot()) for _ in range(many)]
            self.now += max(1.0, many / self.parallel)
            for slot in slots:
                self.limit.succeeded(slot, work=100)
        return many

    async def rounds(self, number: int) -> list[int]:
        return [await self.round() for _ in range(number)]


@dataclass
class Queueing:
    """An endpoint that does some calls at once while others wait in line, such as llama.cpp.

    Attributes:
        slots: Calls that it does at once.
        limit: The limit that learns from it.
        limits: The limit at the end of each call.
    """

    slots: int
    now: float = 0.0
    limit: AdaptiveLimit = field(init=False)
    limits: list[int] = field(default_factory=list)
    _line: deque[tuple[float, asyncio.Future[None]]] = field(default_factory=deque)
    _done: list[tuple[float, int, asyncio.Future[None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.limit = AdaptiveLimit(64, clock=lambda: self.now)

    async def call(self, work: float) -> None:
        async with self.limit.slot() as slot:
            done = asyncio.get_running_loop().create_future()
            self._line.append((work, done))
            self._fill()
            await done
            self.limit.succeeded(slot, work)
            self.limits.append(self.limit.value)

    async def calls(self, work: list[float]) -> list[int]:
        """Make all calls at once; returns the limit at the end of each."""
        calls = [asyncio.create_task(self.call(part)) for part in work]
        while not all(call.done() for call in calls):
            for _ in range(10):  # until every call has done what it can before the time goes on
                await asyncio.sleep(0)
            if self._done:
                self.now, _, done = heapq.heappop(self._done)
                done.set_result(None)
                self._fill()
        await asyncio.gather(*calls)
        return self.limits

    def _fill(self) -> None:
        while self._line and len(self._done) < self.slots:
            work, done = self._line.popleft()
            heapq.heappush(self._done, (self.now + work, id(done), done))


@pytest.mark.parametrize("seed", range(8))
async def test_a_server_with_one_slot_and_a_queue_is_given_one_call_at_a_time(seed: int) -> None:
    # At llama.cpp's server with one slot, the limit became 64: the first of four calls at once did not wait.
    numbers = random.Random(seed)
    limits = await Queueing(slots=1).calls([numbers.uniform(20.0, 120.0) for _ in range(300)])
    assert limits.count(1) > 0.8 * len(limits)
    assert max(limits) <= 4


@pytest.mark.parametrize("slots", [16, 64])
async def test_a_server_with_many_slots_is_soon_given_many_calls(slots: int) -> None:
    numbers = random.Random(slots)
    limits = await Queueing(slots).calls([numbers.uniform(20.0, 120.0) for _ in range(400)])
    assert mode(limits[60:]) == slots
    assert sum(limit >= slots for limit in limits[60:]) > 0.8 * len(limits[60:])


@pytest.mark.parametrize(("parallel", "learnt"), [(1, 1), (4, 4), (16, 16), (1000, 64)])
async def test_the_limit_grows_for_as_long_as_that_gains_something(parallel: int, learnt: int) -> None:
    server = Server(parallel)
    assert mode((await server.rounds(60))[-45:]) == learnt


async def test_what_a_server_can_do_is_looked_at_again() -> None:
    server = Server(parallel=2)
    await server.rounds(12)
    server.parallel = 8  # its other load is gone
    assert mode((await server.rounds(90))[-30:]) == 8
    server.parallel = 1
    assert mode((await server.rounds(300))[-30:]) == 1


async def test_calls_that_had_company_missing_say_nothing() -> None:
    server = Server(parallel=1000)
    await server.rounds(4)
    before = server.limit.value
    assert before > 2
    for _ in range(100):
        async with server.limit.slot() as alone:
            server.now += 1
            server.limit.succeeded(alone, work=100)
    assert server.limit.value == before


async def test_the_limit_halves_once_per_overload() -> None:
    limit = AdaptiveLimit(maximum=8, initial=8)
    async with limit.slot() as one, limit.slot() as two:
        limit.overloaded(one)
        limit.overloaded(two)  # began under the same limit: the same news
        assert limit.value == 4
    for expected in (2, 1, 1):
        async with limit.slot() as later:
            limit.overloaded(later)
        assert limit.value == expected


async def test_no_more_calls_run_than_the_limit_allows_and_all_get_their_turn() -> None:
    limit, running, most, done = AdaptiveLimit(maximum=3, initial=3), 0, 0, 0

    async def call() -> None:
        nonlocal running, most, done
        async with limit.slot():
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            done += 1

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, done) == (3, 20)


async def test_the_battle_that_began_earlier_goes_first() -> None:
    limit, order, go = AdaptiveLimit(maximum=1), list[str](), asyncio.Event()

    async def call(battle: str, name: str) -> None:
        async with limit.slot(battle):
            order.append(name)
            await go.wait()

    calls = [
        ("one", "one nuggets"),
        ("two", "two nuggets"),
        ("three", "three nuggets"),
        ("one", "one labels"),
    ]
    tasks = []
    for battle, name in calls:
        tasks.append(asyncio.create_task(call(battle, name)))
        await asyncio.sleep(0)
    go.set()
    await asyncio.gather(*tasks)
    assert order == ["one nuggets", "one labels", "two nuggets", "three nuggets"]


async def test_a_call_that_is_cancelled_while_it_waits_leaves_its_turn_to_the_next() -> None:
    limit, got = AdaptiveLimit(maximum=1), list[Slot]()

    async def call() -> None:
        async with limit.slot() as slot:
            got.append(slot)

    async with limit.slot():
        waiting = [asyncio.create_task(call()) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    waiting[1].cancel()  # it was given the slot, but has not run yet
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert [isinstance(result, asyncio.CancelledError) for result in results] == [True, True, False]
    assert len(got) == 1
    async with limit.slot():
        pass


def test_clients_of_one_endpoint_share_a_limit() -> None:
    limits = Limits()
    assert limits.of("http://one/v1", 8) is limits.of("http://one/v1", 8)
    assert limits.of("http://one/v1", 8) is not limits.of("http://other/v1", 8)


def test_clients_of_one_model_share_what_is_known_of_its_speed() -> None:
    limits = Limits()
    speed = limits.speed_of("http://one/v1", "small", 60.0)
    speed.answered(2_000, seconds=100.0)
    assert limits.speed_of("http://one/v1", "small", 60.0).slowest == speed.slowest
    others = [("http://one/v1", "large", 60.0), ("http://other/v1", "small", 60.0)]
    assert [limits.speed_of(*other).slowest for other in others] == [None, None]
