"""One computation per key for all who ask, and results kept within bounds; time is turned by hand."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest

from services.runtime.errors import Unavailable
from services.runtime.shared_cache import Retention, SharedCache


class Work:
    """A computation that counts its runs and ends when it is let go."""

    def __init__(self, result: str = "done", *, held: bool = True) -> None:
        self.result = result
        self.runs = 0
        self.cancelled = 0
        self.started = asyncio.Event()
        self.release = asyncio.Event()
        self.error: Exception | None = None
        if not held:
            self.release.set()

    async def __call__(self) -> str:
        self.runs += 1
        self.started.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.error is not None:
            raise self.error
        return self.result


class ManyWork(Work):
    """A computation of several keys; a key's result is the key in capitals."""

    def __init__(self, *, held: bool = True) -> None:
        super().__init__(held=held)
        self.calls: list[list[str]] = []
        self.lost = 0

    async def compute(self, keys: Sequence[str]) -> list[str]:
        self.calls.append(list(keys))
        await self()
        return [key.upper() for key in keys][: len(keys) - self.lost]


def cache(entries: int = 10, **options: Any) -> SharedCache[Any, str]:
    return SharedCache(Retention(entries=entries), **options)


def ready(result: str) -> Work:
    return Work(result, held=False)


async def asking(shared: SharedCache[Any, str], key: object, work: Work) -> asyncio.Task[str]:
    """A caller that waits."""
    task = asyncio.create_task(shared.get(key, work))
    await asyncio.sleep(0)
    return task


async def asking_many(shared: SharedCache[Any, str], work: ManyWork, *keys: str) -> asyncio.Task[list[str]]:
    """A caller that waits for several results."""
    task = asyncio.create_task(shared.get_many(keys, work.compute))
    await asyncio.sleep(0)
    return task


# --- sharing -------------------------------------------------------------------------------------
async def test_callers_of_one_key_share_one_computation_and_later_callers_its_result() -> None:
    shared, work = cache(), Work()
    callers = [await asking(shared, "k", work) for _ in range(5)]
    await work.started.wait()
    work.release.set()
    assert await asyncio.gather(*callers) == ["done"] * 5
    assert await shared.get("k", work) == "done"
    assert work.runs == 1


async def test_keys_do_not_wait_for_each_other() -> None:
    shared, slow = cache(), Work()
    waiting = await asking(shared, "slow", slow)
    assert await shared.get("quick", ready("quick")) == "quick"
    slow.release.set()
    assert await waiting == "done"


async def test_a_caller_that_stops_waiting_does_not_take_the_result_from_the_others() -> None:
    shared, work = cache(), Work()
    impatient, patient = await asking(shared, "k", work), await asking(shared, "k", work)
    impatient.cancel()
    work.release.set()
    assert await patient == "done"
    assert impatient.cancelled()
    assert (work.runs, work.cancelled) == (1, 0)


async def test_a_computation_that_nobody_waits_for_goes_on_and_its_result_is_kept() -> None:
    shared, work = cache(), Work()
    only = await asking(shared, "k", work)
    await work.started.wait()
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    work.release.set()
    assert await shared.get("k", work) == "done"
    assert (work.runs, work.cancelled) == (1, 0)


async def test_an_error_reaches_every_caller_and_is_not_kept() -> None:
    shared, failing = cache(), Work()
    failing.error = ValueError("broken")
    callers = [await asking(shared, "k", failing) for _ in range(2)]
    failing.release.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [str(result) for result in results] == ["broken", "broken"]
    assert await shared.get("k", ready("fine")) == "fine"


async def test_nobody_joins_a_computation_that_has_just_failed() -> None:
    shared, fine, late = cache(), ready("fine"), []

    def ask_now() -> None:
        asking = shared.get("k", fine)
        asking.send(None)  # up to where it waits, before any callback of the failed computation
        late.append(asking)

    async def failing() -> str:
        asyncio.get_running_loop().call_soon(ask_now)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await shared.get("k", failing)
    await fine.started.wait()
    assert await shared.get("k", fine) == "fine"
    assert fine.runs == len(late) == 1
    late[0].close()


async def test_an_error_that_nobody_waits_for_is_not_logged() -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    shared, failing = cache(), Work()
    failing.error = ValueError("broken")
    only = await asking(shared, "k", failing)
    await failing.started.wait()
    only.cancel()
    failing.release.set()
    with pytest.raises(asyncio.CancelledError):
        await only
    assert await shared.get("k", ready("fine")) == "fine"
    assert complaints == []


# --- bounds --------------------------------------------------------------------------------------
async def test_the_result_used_longest_ago_is_dropped_first() -> None:
    shared, computed = cache(entries=2), []
    for key in ("x", "y", "x", "z", "x", "y"):
        work = ready(key)
        assert await shared.get(key, work) == key
        computed += [key] * work.runs
    assert computed == ["x", "y", "z", "y"]
    assert len(shared) == 2


async def test_results_are_dropped_when_together_they_weigh_too_much() -> None:
    shared: SharedCache[str, str] = SharedCache(Retention(entries=10, max_weight=10, weight=len))
    await shared.get("x", ready("x" * 6))
    await shared.get("y", ready("y" * 4))
    assert len(shared) == 2
    await shared.get("z", ready("z" * 5))
    assert await shared.get("z", ready("again")) == "z" * 5
    assert await shared.get("x", ready("again")) == "again"


async def test_a_result_that_alone_weighs_too_much_is_given_and_not_kept() -> None:
    shared: SharedCache[str, str] = SharedCache(Retention(entries=10, max_weight=3, weight=len))
    assert await shared.get("x", ready("heavy")) == "heavy"
    assert len(shared) == 0
    assert await shared.get("y", ready("ok")) == "ok"
    assert len(shared) == 1


async def test_a_result_is_kept_until_it_is_too_old() -> None:
    now = [0.0]
    retention: Retention[str] = Retention(
        entries=10, max_weight=3, weight=len, lifetime=lambda _: 10.0, clock=lambda: now[0]
    )
    shared: SharedCache[str, str] = SharedCache(retention)
    assert await shared.get("k", ready("old")) == "old"
    now[0] = 9.9
    assert await shared.get("k", ready("new")) == "old"
    now[0] = 10.1
    assert await shared.get("k", ready("new")) == "new"
    assert await shared.get("k", ready("newer")) == "new"  # the old one no longer weighs anything


async def test_a_result_without_a_lifetime_is_shared_and_not_kept() -> None:
    shared: SharedCache[str, str] = SharedCache(Retention(entries=10, lifetime=lambda _: 0.0))
    work = Work()
    callers = [await asking(shared, "k", work) for _ in range(2)]
    work.release.set()
    assert await asyncio.gather(*callers) == ["done", "done"]
    assert await shared.get("k", ready("again")) == "again"
    assert work.runs == 1


async def test_a_cache_of_no_entries_shares_what_is_under_way_and_keeps_nothing() -> None:
    shared, work = cache(entries=0), Work()
    callers = [await asking(shared, "k", work) for _ in range(3)]
    work.release.set()
    assert await asyncio.gather(*callers) == ["done"] * 3
    assert await shared.get("k", ready("again")) == "again"
    assert (work.runs, len(shared)) == (1, 0)


# --- turns ---------------------------------------------------------------------------------------
async def test_no_more_than_the_allowed_number_of_computations_run_at_once() -> None:
    shared, first, second = cache(at_once=1), Work("first"), Work("second")
    callers = [await asking(shared, 1, first), await asking(shared, 2, second)]
    await first.started.wait()
    assert not second.started.is_set()
    first.release.set()
    second.release.set()
    assert await asyncio.gather(*callers) == ["first", "second"]


async def test_a_full_waiting_line_rejects_new_computations_and_empties_again() -> None:
    shared, works = cache(at_once=1, max_waiting=1), [Work("first"), Work("second")]
    callers = [await asking(shared, key, work) for key, work in enumerate(works)]
    for caller in callers:
        caller.cancel()  # nobody waits any more, and the computations go on
    with pytest.raises(Unavailable, match="2 other results are still being computed"):
        await shared.get("third", ready("third"))
    works[0].release.set()
    joined = await asking(shared, 0, works[0])  # to join one of them is still allowed
    works[1].release.set()
    assert await joined == "first"
    assert await shared.get(1, works[1]) == "second"
    assert await shared.get("third", ready("third")) == "third"


# --- abandoned computations ----------------------------------------------------------------------
async def test_an_abandoned_computation_is_cancelled_where_that_was_asked_for() -> None:
    shared, work = cache(cancel_abandoned=True), Work()
    first = await asking(shared, "k", work)
    await work.started.wait()
    second = await asking(shared, "k", work)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert work.cancelled == 0  # the second still waits
    second.cancel()
    again = await asking(shared, "k", work)  # begins anew, and does not join what is being cancelled
    with pytest.raises(asyncio.CancelledError):
        await second
    work.release.set()
    assert await again == "done"
    assert (work.runs, work.cancelled) == (2, 1)


async def test_a_computation_is_not_cancelled_while_somebody_waits_for_one_of_its_keys() -> None:
    shared, work = cache(cancel_abandoned=True), ManyWork()
    first = await asking_many(shared, work, "a", "b")
    second = await asking_many(shared, work, "b")
    await work.started.wait()
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.release.set()
    assert await second == ["B"]
    assert (work.calls, work.cancelled) == ([["a", "b"]], 0)


# --- several keys --------------------------------------------------------------------------------
async def test_only_the_keys_that_are_missing_are_computed_each_once() -> None:
    shared, work = cache(), ManyWork()
    callers = [await asking_many(shared, work, "a", "b", "a"), await asking_many(shared, work, "c", "a")]
    work.release.set()
    assert await asyncio.gather(*callers) == [["A", "B", "A"], ["C", "A"]]
    assert await shared.get_many(["c", "d", "b"], work.compute) == ["C", "D", "B"]
    assert work.calls == [["a", "b"], ["c"], ["d"]]
    assert await shared.get_many([], work.compute) == []


async def test_more_keys_than_are_kept_still_get_their_results() -> None:
    shared, work = cache(entries=1), ManyWork(held=False)
    assert await shared.get_many(["a", "b", "c", "a"], work.compute) == ["A", "B", "C", "A"]
    assert (work.calls, len(shared)) == ([["a", "b", "c"]], 1)


async def test_a_lost_result_is_an_error_for_every_key_of_the_computation() -> None:
    shared, work = cache(), ManyWork(held=False)
    work.lost = 1
    with pytest.raises(ValueError, match="shorter"):
        await shared.get_many(["a", "b"], work.compute)
    work.lost = 0
    assert await shared.get_many(["a", "b"], work.compute) == ["A", "B"]


async def test_an_error_reaches_callers_that_share_only_one_key() -> None:
    shared, work, other = cache(), ManyWork(), ManyWork()
    work.error = ValueError("out of memory")
    callers = [await asking_many(shared, work, "a"), await asking_many(shared, other, "b", "a")]
    work.release.set()
    other.release.set()
    results = await asyncio.gather(*callers, return_exceptions=True)
    assert [str(result) for result in results] == ["out of memory"] * 2
    assert await shared.get_many(["b", "a"], ManyWork(held=False).compute) == ["B", "A"]


# --- leaving -------------------------------------------------------------------------------------
async def test_closing_cancels_what_is_under_way_and_drops_what_is_kept() -> None:
    shared, work = cache(), Work()
    await shared.get("kept", ready("kept"))
    waiting = await asking(shared, "k", work)
    await work.started.wait()
    await shared.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (work.cancelled, len(shared)) == (1, 0)
    assert await shared.get("kept", ready("new")) == "new"


@pytest.mark.parametrize("cancel_abandoned", [False, True])
async def test_whatever_callers_do_each_gets_its_own_results_and_nothing_is_left_behind(
    cancel_abandoned: bool,
) -> None:
    rng, shared = random.Random(7), cache(entries=3, at_once=2, cancel_abandoned=cancel_abandoned)

    async def compute(keys: Sequence[int]) -> list[str]:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        if rng.random() < 0.2:
            raise ValueError(keys)
        return [f"result {key}" for key in keys]

    async def caller() -> None:
        keys = [rng.randrange(6) for _ in range(rng.randrange(1, 4))]
        assert await shared.get_many(keys, compute) == [f"result {key}" for key in keys]

    callers = []
    for _ in range(400):
        callers.append(asyncio.create_task(caller()))
        if rng.random() < 0.3:
            rng.choice(callers).cancel()
        await asyncio.sleep(0)
        assert len(shared) <= 3
    results = await asyncio.gather(*callers, return_exceptions=True)
    kinds = {type(result) for result in results}
    assert kinds == {type(None), ValueError, asyncio.CancelledError}
    await shared.close()
    assert not shared._tasks
    assert not shared._flights
