"""Following a battle while it happens: nudges, resumption, endings."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from arena.v1 import arena_pb2

from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.failure import Reason
from services.gateway.battles.event_views import event_view
from services.gateway.battles.followers import Followers
from services.gateway.ports import Gateway
from services.gateway.stream.selection import Selection
from services.runtime.errors import Unavailable
from services.store.battles.battles import BattleRow, Battles
from services.store.battles.event_reading import RecordedEvent
from services.store.database import Database
from tests.integration.gateway.world import TIDES, Story, World, battle, submission

NAMES = ["submitted", "scraped", "indexed", "retrieved", "nuggetized", "assigned", "judged"]
Frame = dict[str, str]


@asynccontextmanager
async def stream(world: World, after: str = "") -> AsyncIterator[AsyncIterator[Frame]]:
    """The frames of the event stream as they come."""
    headers = {"last-event-id": after} if after else {}
    async with world.http.stream("GET", "/v1/battles/tides/events", headers=headers) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        yield frames(response)


async def frames(response: httpx2.Response) -> AsyncIterator[Frame]:
    frame: Frame = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            frame[name] = value
        elif frame:
            yield frame
            frame = {}


async def test_events_come_as_they_are_recorded_until_the_battle_has_ended(world: World) -> None:
    submitted, *rest = Story(battle()).told()
    await world.happens(submitted)
    async with asyncio.timeout(90), stream(world) as coming:
        first = await anext(coming)
        assert (first["id"], first["event"]) == ("1", "submitted")
        for number, event in enumerate(rest, start=2):
            await world.happens(event)
            frame = await anext(coming)
            assert (frame["id"], frame["event"]) == (str(number), NAMES[number - 1])
        assert json.loads(frame["data"])["winner"] == "a"
        last = await anext(coming)
        assert (last["event"], "id" in last) == ("ended", False)
        ended = json.loads(last["data"])
        assert (ended["state"], ended["number"]) == ("scored", len(NAMES))
        assert ended["preferences"] == {
            "human": None, "nugget": "a", "judge": "a", "grounded": None, "leading": "nugget",
        }  # fmt: skip
        assert [frame async for frame in coming] == []


async def test_a_stream_resumes_after_the_last_event_seen(world: World) -> None:
    await world.happens(*Story(battle()).told())
    async with asyncio.timeout(90), stream(world, after="4") as coming:
        seen = [frame["event"] async for frame in coming]
    assert seen == ["nuggetized", "assigned", "judged", "ended"]


@pytest.mark.parametrize("after", [0, 6, 7])
async def test_the_end_has_the_number_of_the_event_that_ended_the_battle(world: World, after: int) -> None:
    story = Story(battle())
    await world.happens(*story.told())
    await world.happens(story.voted())
    async with asyncio.timeout(90), stream(world, after=str(after)) as coming:
        *_, voted, ended = [json.loads(frame["data"]) async for frame in coming]
    assert (voted["kind"], voted["number"]) == ("voted", 8)
    assert (ended["kind"], ended["number"]) == ("ended", 7)
    told = world.tail.follow(Selection(kinds=frozenset({"ended"})), 0)
    async with asyncio.timeout(90):
        assert (await anext(told)).view.model_dump(mode="json") == ended
    await told.aclose()  # type: ignore[attr-defined]


async def test_who_has_seen_everything_is_told_not_to_come_back(world: World) -> None:
    await world.happens(*Story(battle()).told())
    response = await world.http.get("/v1/battles/tides/events", headers={"last-event-id": "7"})
    assert response.status_code == 204
    nonsense = await world.http.get("/v1/battles/tides/events", headers={"last-event-id": "x"})
    assert nonsense.status_code == 422


class SlowBattles(Battles):
    """A record that answers when it is told to."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.asked, self.go, self.answered = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def progress(
        self, battle_id: str, after: int = 0, *, texts: bool = True
    ) -> tuple[BattleRow | None, list[RecordedEvent]]:
        self.asked.set()
        await self.go.wait()
        found = await super().progress(battle_id, after, texts=texts)
        self.answered.set()
        return found


async def test_a_query_is_not_cut_short_where_its_follower_leaves(world: World) -> None:
    """It would take its connection along: a stream is left by cancelling every step of giving it back."""
    slow = SlowBattles(world.database)
    followers = Followers(slow)
    follower = asyncio.create_task(names_of(followers.follow("tides")))
    await slow.asked.wait()
    follower.cancel()
    await asyncio.wait({follower})
    slow.go.set()
    await asyncio.wait_for(slow.answered.wait(), 90)


async def test_a_lost_nudge_delays_and_loses_nothing(world: World) -> None:
    """These followers hear nothing at all: only their poll is left."""
    deaf = Followers(world.gateway.battles, poll=0.05)
    first, *rest = Story(battle()).told()
    await world.happens(first)
    following = deaf.follow("tides")
    assert (await anext(following)).name == "submitted"
    later = asyncio.create_task(names_of(following))
    await world.happens(*rest)
    async with asyncio.timeout(90):
        assert await later == NAMES[1:]


async def test_a_nudge_wakes_at_once(world: World) -> None:
    patient = Followers(world.gateway.battles, poll=3600)
    first, *rest = Story(battle()).told()
    await world.happens(first)
    async with patient.listening(world.bus), asyncio.timeout(90):
        everything = asyncio.create_task(names_of(patient.follow("tides")))
        await world.bus.core_publish("arena.v1.recorded", b"\xffgarbage")
        await world.happens(*rest)
        assert await everything == NAMES


class AwayBattles(Battles):
    """A record that does not answer every other time."""

    asked = 0

    async def progress(
        self, battle_id: str, after: int = 0, *, texts: bool = True
    ) -> tuple[BattleRow | None, list[RecordedEvent]]:
        self.asked += 1
        if self.asked % 2 == 0:
            raise Unavailable(Reason.STORE_UNAVAILABLE, "the database does not answer")
        return await super().progress(battle_id, after, texts=texts)


async def test_a_stream_that_has_begun_outlasts_a_busy_database(world: World) -> None:
    away = AwayBattles(world.database)
    followers = Followers(away, poll=0.05)
    first, *rest = Story(battle()).told()
    await world.happens(first)
    following = followers.follow("tides")
    assert (await anext(following)).name == "submitted"
    await world.happens(*rest)
    async with asyncio.timeout(90):
        assert await names_of(following) == NAMES[1:]
    assert away.asked == 3
    with pytest.raises(Unavailable):  # one that has not begun is refused
        await anext(followers.follow("tides"))


async def test_the_view_that_ends_a_stream_outlasts_a_busy_database(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, asked = Gateway.view, list[str]()

    async def busy_at_first(gateway: Gateway, battle_id: str) -> Any:
        asked.append(battle_id)
        if len(asked) == 1:
            raise Unavailable(Reason.STORE_UNAVAILABLE, "the database does not answer")
        return await view(gateway, battle_id)

    monkeypatch.setattr(Gateway, "view", busy_at_first)
    monkeypatch.setattr(world.gateway.followers, "_poll", 0.05)
    await world.happens(*Story(battle()).told())
    async with asyncio.timeout(90), stream(world) as coming:
        assert [frame["event"] async for frame in coming] == [*NAMES, "ended"]
    assert asked == ["tides", "tides"]


class CountingBattles(Battles):
    """A record that counts how often it is asked for a battle's events."""

    asked = 0

    async def progress(
        self, battle_id: str, after: int = 0, *, texts: bool = True
    ) -> tuple[BattleRow | None, list[RecordedEvent]]:
        self.asked += 1
        return await super().progress(battle_id, after, texts=texts)


async def test_followers_that_wake_together_read_once(world: World) -> None:
    counting = CountingBattles(world.database)
    followers = Followers(counting, poll=3600)
    await world.happens(*Story(battle()).told())
    async with asyncio.timeout(90):
        everything = await asyncio.gather(*(names_of(followers.follow("tides")) for _ in range(50)))
    assert everything == [NAMES] * 50
    assert counting.asked == 1


async def test_streams_of_clients_read_no_texts_of_sources_and_evidence(world: World) -> None:
    text = "Two bulges of water rise on opposite sides of the Earth. " * 20
    answer = {"system": "atlas", "text": "Two.", "sources": [{"url": TIDES, "text": text}]}
    await world.http.post("/v1/battles", json=submission(a=answer))
    [submitted] = await world.published()
    assert isinstance(submitted, BattleSubmitted)
    await world.happens(submitted, *Story(battle(a=answer)).told()[1:])
    followers = Followers(world.gateway.battles, poll=3600)
    async with asyncio.timeout(90):
        whole = [event async for event in followers.follow("tides")]
        small = [event async for event in followers.follow("tides", texts=False)]
    assert text.encode() in whole[0].body
    assert whole[0].complete
    assert text.encode() not in small[0].body
    assert not small[0].complete
    assert [event_view(event) for event in small] == [event_view(event) for event in whole]


async def test_what_a_notification_announces_is_not_read_by_a_query_from_before(world: World) -> None:
    slow = SlowBattles(world.database)
    followers = Followers(slow, poll=3600)
    await world.happens(Story(battle()).submitted())
    async with followers.listening(world.bus), asyncio.timeout(90):
        early = asyncio.create_task(names_of(followers.follow("tides")))
        await slow.asked.wait()  # its query has begun
        slow.asked.clear()
        notification = arena_pb2.EventRecorded(battle_id="tides").SerializeToString()
        await world.bus.core_publish("arena.v1.recorded", notification)
        while followers.notifications == 0:
            await asyncio.sleep(0.01)
        late = asyncio.create_task(names_of(followers.follow("tides")))
        await slow.asked.wait()  # a query of its own
        slow.go.set()
        await world.happens(*Story(battle()).told()[1:])
        assert [await early, await late] == [NAMES, NAMES]


async def test_leaving_releases_every_follower(world: World) -> None:
    followers = Followers(world.gateway.battles, poll=3600)
    await world.happens(Story(battle()).submitted())
    following = followers.follow("tides")
    await anext(following)
    rest = asyncio.create_task(names_of(following))
    await asyncio.sleep(0)
    followers.release()
    async with asyncio.timeout(90):
        assert await rest == []


async def names_of(following: AsyncIterator[RecordedEvent]) -> list[str]:
    return [event.name async for event in following]
