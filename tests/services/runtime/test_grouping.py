"""Items that arrive while others are handled are handled together next."""

import asyncio
from collections.abc import Sequence

import pytest

from nuggetstream.domain.failure import Reason
from services.runtime.errors import Outage
from services.runtime.grouping import Grouping


class Handler:
    """Doubles numbers when it is let go; a negative number is an error, and 0 an outage."""

    def __init__(self) -> None:
        self.groups: list[list[int]] = []
        self.go = asyncio.Event()

    async def __call__(self, numbers: Sequence[int]) -> Sequence[int]:
        self.groups.append(list(numbers))
        await self.go.wait()
        if 0 in numbers:
            raise Outage(Reason.STORE_UNAVAILABLE, "away")
        if any(number < 0 for number in numbers):
            raise ValueError("negative")
        return [2 * number for number in numbers]

    async def begun(self, groups: int) -> None:
        while len(self.groups) < groups:
            await asyncio.sleep(0)


async def test_what_arrives_meanwhile_is_one_group() -> None:
    handler = Handler()
    grouping = Grouping(handler, 3)
    first = asyncio.create_task(grouping(1))
    await handler.begun(1)
    others = [asyncio.create_task(grouping(number)) for number in (2, 3, 4, 5)]
    await asyncio.sleep(0)
    handler.go.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10]
    assert handler.groups == [[1], [2, 3, 4], [5]]


async def test_a_bad_item_fails_alone() -> None:
    handler = Handler()
    handler.go.set()
    grouping = Grouping(handler, 10)
    results = await asyncio.gather(*map(grouping, (1, -1, 2)), return_exceptions=True)
    assert (results[0], results[2]) == (2, 4)
    assert isinstance(results[1], ValueError)
    assert handler.groups == [[1, -1, 2], [1], [-1], [2]]


async def test_an_outage_is_met_once_for_the_whole_group() -> None:
    handler = Handler()
    handler.go.set()
    results = await asyncio.gather(*map(Grouping(handler, 10), (1, 0, 2)), return_exceptions=True)
    assert [type(result) for result in results] == [Outage] * 3
    assert handler.groups == [[1, 0, 2]]


async def test_a_caller_that_leaves_stops_nobody_else() -> None:
    handler = Handler()
    grouping = Grouping(handler, 10)
    begun = asyncio.create_task(grouping(1))
    await handler.begun(1)
    waiting, other = asyncio.create_task(grouping(2)), asyncio.create_task(grouping(3))
    await asyncio.sleep(0)
    for task in (begun, waiting):
        task.cancel()
    handler.go.set()
    assert await other == 6
    assert handler.groups == [[1], [3]]
    with pytest.raises(asyncio.CancelledError):
        await begun


async def test_a_group_belongs_to_no_caller() -> None:
    """The log lines of a group do not name the battle of its first item."""
    import structlog

    async def bound(items: Sequence[int]) -> Sequence[object]:
        return [structlog.contextvars.get_contextvars()] * len(items)

    with structlog.contextvars.bound_contextvars(battle_id="b1"):
        assert await Grouping(bound, 10)(1) == {}


@pytest.mark.slow
async def test_after_a_group_of_several_the_next_one_waits_for_more() -> None:
    handler = Handler()
    handler.go.set()
    grouping = Grouping(handler, 10, pause=1.0)
    assert await asyncio.gather(grouping(1), grouping(2)) == [2, 4]
    third = asyncio.create_task(grouping(3))
    for _ in range(10):
        await asyncio.sleep(0)
    assert handler.groups == [[1, 2]]
    assert await asyncio.gather(grouping(4), third) == [8, 6]
    assert handler.groups == [[1, 2], [3, 4]]


async def test_what_arrives_alone_is_handled_at_once() -> None:
    handler = Handler()
    handler.go.set()
    grouping = Grouping(handler, 10, pause=3600.0)
    for number in range(1, 5):
        assert await grouping(number) == 2 * number
    assert handler.groups == [[1], [2], [3], [4]]


async def test_a_full_group_does_not_wait() -> None:
    handler = Handler()
    handler.go.set()
    grouping = Grouping(handler, 2, pause=3600.0)
    assert await asyncio.gather(*map(grouping, (1, 2, 3, 4))) == [2, 4, 6, 8]
    assert handler.groups == [[1, 2], [3, 4]]
