"""Delivery to receivers that fail, are slow, away or gone, and processes that are killed while they send."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from nuggetstream.client import InvalidSignature, webhook_event
from nuggetstream.views.signatures import new_secret
from services.gateway.stream.reading import EventReader
from services.gateway.webhooks.deliveries import Deliveries
from services.gateway.webhooks.dispatcher import Dispatcher, LeaseLost, Patience
from services.gateway.webhooks.sender import NotAccepted, Sender
from services.recorder.stage import Recorder
from services.runtime.address_guard import GuardedBackend, SystemResolver
from services.store.access.webhooks import Webhook, Webhooks
from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.battles.event_tail import EventTail
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.store.tables import events as event_table
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name
from tests.integration.gateway.battles.test_following import NAMES
from tests.integration.gateway.test_unreadable_events import damaged
from tests.integration.gateway.webhooks.receiver import Arrived, Receiver, receiver, statuses
from tests.integration.gateway.world import Story, battle

QUICK = Patience(first=0.02, longest=0.1, attempts=4)
ALL = [*NAMES, "ended"]


async def happens(database: Database, *events: Any) -> None:
    async def deaf(_subject: str, _body: bytes) -> None:
        return None

    recorder = Recorder(Battles(database), deaf)
    for event in events:
        await recorder(event)


async def added(database: Database, target: Receiver, **changes: Any) -> Webhook:
    now = datetime.now(UTC)
    webhook = Webhook(
        id=changes.pop("id", "wh_1"),
        arena="demo",
        url=target.url,
        secret=new_secret(),
        kinds=[],
        tags=[],
        languages=[],
        created_at=now,
        cursor=changes.pop("cursor") if "cursor" in changes else await EventTail(database).last(),
    )
    await Webhooks(database).add(webhook.model_copy(update=changes))
    return webhook.model_copy(update=changes)


def valid(arrived: Arrived, *listed: str) -> list[bool]:
    """Which of the secrets have signed."""
    found = []
    for secret in listed:
        try:
            webhook_event(secret, arrived.headers, arrived.body)
            found.append(True)
        except InvalidSignature:
            found.append(False)
    return found


def sender(*receivers: Receiver, seconds: float = 60.0) -> Sender:
    return Sender(GuardedBackend(SystemResolver(), [each.host for each in receivers]), seconds)


@asynccontextmanager
async def sending(
    database: Database, reader: EventReader, sender: Sender, patience: Patience = QUICK
) -> AsyncIterator[asyncio.Task[None]]:
    """A process that sends inside the block, and ends in good order."""
    stop = asyncio.Event()
    async with sender:
        deliveries = Deliveries(database, reader, sender, patience=patience, refresh=0.05)
        task = asyncio.create_task(deliveries.run(stop))
        yield task
        stop.set()
        with contextlib.suppress(asyncio.CancelledError):
            await task


async def test_every_event_arrives_in_order_signed_and_in_the_published_form(
    database: Database, reader: EventReader
) -> None:
    async with receiver() as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        await happens(database, *Story(battle()).told())
        await target.until(lambda: len(target.accepted) == len(ALL))
    assert target.kinds() == ALL
    assert len({each.id for each in target.arrived}) == len(ALL)
    for each in target.arrived:
        assert each.headers["content-type"] == "application/json"
        event = webhook_event(hook.secret, each.headers, each.body)
        assert event is not None
        assert (event.battle_id, event.number, event.kind) == each.name
    first = target.arrived[0]
    with pytest.raises(InvalidSignature):
        webhook_event(hook.secret, first.headers, first.body + b" ")
    with pytest.raises(InvalidSignature):
        webhook_event(new_secret(), first.headers, first.body)


async def test_during_a_rotation_both_secrets_sign_and_then_the_new_one_alone(
    database: Database, reader: EventReader
) -> None:
    store, (first, second, third) = Webhooks(database), (new_secret() for _ in range(3))
    async with receiver() as target, sending(database, reader, sender(target)):
        hook = await added(database, target, secret=first)
        rotated = await store.rotate(hook.id, second, datetime.now(UTC) + timedelta(hours=1))
        assert rotated is not None
        assert (rotated.secret, rotated.previous_secret) == (second, first)
        story = Story(battle())
        await happens(database, story.submitted())
        await target.until(lambda: len(target.accepted) == 1)
        assert await store.rotate(hook.id, third, datetime.now(UTC)) is not None
        await happens(database, story.scraped())
        await target.until(lambda: len(target.accepted) == 2)
    during, after = target.arrived
    assert valid(during, first, second, third) == [True, True, False]
    assert valid(after, first, second, third) == [False, False, True]
    assert await store.rotate("wh_nobody", first, datetime.now(UTC)) is None


async def test_a_new_secret_is_used_in_the_middle_of_a_long_round(
    database: Database, reader: EventReader
) -> None:
    moments, new = [datetime.now(UTC)], new_secret()

    async def rotates(_: Arrived) -> int:
        if len(target.arrived) == 1:
            await Webhooks(database).rotate(hook.id, new, datetime.now(UTC))
            moments[0] += timedelta(seconds=QUICK.lease / 2)
        return 200

    async with receiver(rotates) as target, sender(target) as sends:
        hook = await added(database, target)
        await happens(database, *Story(battle()).told()[:2])
        dispatcher = Dispatcher(
            store=Webhooks(database),
            tail=EventTail(database),
            events=reader,
            sender=sends,
            owner="test",
            patience=QUICK,
            now=lambda: moments[0],
        )
        assert await dispatcher.deliver(hook.id, asyncio.Event())
    assert [valid(each, hook.secret, new) for each in target.arrived] == [[True, False], [False, True]]
    stored = await Webhooks(database).get(hook.id)
    assert stored is not None
    assert stored.secret == new  # what the round stores is not the secret with which it began


async def test_the_metrics_know_webhooks_that_were_switched_off(
    database: Database, reader: EventReader
) -> None:
    def off() -> float | None:
        return REGISTRY.get_sample_value("nuggetstream_webhooks_switched_off")

    async with receiver(statuses(410)) as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        await added(database, target, id="wh_2", arena="abroad")
        await happens(database, Story(battle()).submitted())
        async with asyncio.timeout(90):
            while off() != 1:
                await asyncio.sleep(0.01)
        target.answer = statuses(200)
        await Webhooks(database).retry(hook.id, datetime.now(UTC))
        async with asyncio.timeout(90):
            while off() != 0:
                await asyncio.sleep(0.01)


async def test_filters_select_by_arena_kind_tag_and_language(database: Database, reader: EventReader) -> None:
    async with receiver() as target, sending(database, reader, sender(target)):
        await added(database, target, kinds=["submitted", "voted"], tags=["x", "z"], languages=["en"])
        for other in (
            battle(id="arena", arena="abroad", tags=["x"]),
            battle(id="tag", tags=["y"]),
            battle(id="language", tags=["x"], language="de"),
        ):
            await happens(database, *Story(other).told()[:2])
        wanted = Story(battle(id="wanted", tags=["x"]))
        await happens(database, wanted.submitted(), wanted.scraped(), wanted.voted())
        await target.until(lambda: len(target.accepted) == 2)
    assert [each.name for each in target.arrived] == [("wanted", 1, "submitted"), ("wanted", 3, "voted")]


async def test_an_event_that_is_always_rejected_holds_up_no_other_and_is_given_up(
    database: Database, reader: EventReader
) -> None:
    async def rejects_labels(arrived: Arrived) -> int:
        return 422 if arrived.event["kind"] == "assigned" else 200

    store = Webhooks(database)
    async with receiver(rejects_labels) as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        await happens(database, *Story(battle()).told())
        await target.until(lambda: len(target.arrived) == len(ALL) - 1 + QUICK.rejections)
        assert target.kinds() == [kind for kind in ALL if kind != "assigned"]
        async with asyncio.timeout(90):
            while (left := await store.undelivered(hook.id, 9)) == [] or left[0].next_at is not None:
                await asyncio.sleep(0.01)
        assert [(each.kind, each.attempts, each.reason) for each in left] == [
            ("assigned", QUICK.rejections, "the receiver answers 422")
        ]
        rejected = [each.id for each in target.arrived if each.event["kind"] == "assigned"]
        assert len(rejected) == QUICK.rejections
        assert len(set(rejected)) == 1  # the same event has the same id in every attempt
        target.answer = statuses(200)
        assert await store.retry(hook.id, datetime.now(UTC)) == 1
        await target.until(lambda: target.kinds()[-1] == "assigned")
        async with asyncio.timeout(90):
            while await store.undelivered(hook.id, 9):
                await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("status", "attempts"),
    [
        (400, QUICK.rejections),
        (404, QUICK.rejections),
        (413, QUICK.rejections),
        (408, QUICK.attempts),
        (409, QUICK.attempts),
        (425, QUICK.attempts),
        (429, QUICK.attempts),
        (503, QUICK.attempts),
    ],
)
async def test_an_event_is_given_up_sooner_where_the_receiver_rejects_it(
    database: Database, reader: EventReader, status: int, attempts: int
) -> None:
    async def rejects_the_first(arrived: Arrived) -> int:
        return status if arrived.event["kind"] == "submitted" else 200

    store = Webhooks(database)
    async with receiver(rejects_the_first) as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        await happens(database, *Story(battle()).told()[:2])
        async with asyncio.timeout(90):
            while (left := await store.undelivered(hook.id, 9)) == [] or left[0].next_at is not None:
                await asyncio.sleep(0.01)
        await target.until(lambda: target.kinds() == ["scraped"])
    assert [(each.kind, each.attempts) for each in left] == [("submitted", attempts)]


async def test_rejected_events_make_room_for_others(database: Database, reader: EventReader) -> None:
    async def rejects_pages(arrived: Arrived) -> int:
        return 422 if arrived.event["kind"] == "scraped" else 200

    patience = replace(QUICK, attempts=1_000_000, waiting=2)
    async with receiver(rejects_pages) as target, sending(database, reader, sender(target), patience):
        await added(database, target)
        for number in range(6):
            story = Story(battle(id=f"b{number}", query=f"Why {number}?"))
            await happens(database, *story.told()[:2])
        await target.until(lambda: len(target.accepted) == 6)


async def test_a_receiver_that_is_away_gets_everything_when_it_is_back(
    database: Database, reader: EventReader
) -> None:
    async with receiver() as target:
        port = target.port
    # Nobody listens any more.
    away = Receiver(port=port)
    async with sending(database, reader, sender(away)):
        hook = await added(database, away)
        stories = [Story(battle(id=f"b{number}", query=f"Why {number}?")) for number in range(3)]
        for story in stories:
            await happens(database, *story.told())
        async with asyncio.timeout(90):
            while (stored := await Webhooks(database).get(hook.id)) is None or stored.failures < 3:
                await asyncio.sleep(0.01)
        assert stored.paused_until is not None
        assert "no connection" in (stored.last_error or "")
        async with receiver(port=port) as back:
            # Some were given up meanwhile, which an operator sends again.
            async with asyncio.timeout(90):
                while len({each.name for each in back.accepted}) < 3 * len(ALL):
                    await Webhooks(database).retry(hook.id, datetime.now(UTC))
                    await asyncio.sleep(0.05)
            for story in stories:
                assert set(back.kinds(story.battle.id)) == set(ALL)
    stored = await Webhooks(database).get(hook.id)
    assert stored is not None
    assert (stored.failures, stored.last_error) == (0, None)


async def test_a_receiver_that_never_answers_holds_up_no_other(
    database: Database, reader: EventReader
) -> None:
    never = asyncio.Event()

    async def waits(_: Arrived) -> int:
        await never.wait()
        return 200

    async with receiver(waits) as stuck, receiver() as quick:
        async with sending(database, reader, sender(stuck, quick, seconds=3.0)):
            await added(database, stuck, id="wh_stuck")
            await added(database, quick, id="wh_quick")
            for number in range(5):
                await happens(database, *Story(battle(id=f"b{number}", query=f"Why {number}?")).told())
            await stuck.until(lambda: bool(stuck.arrived))
            await quick.until(lambda: len(quick.accepted) == 5 * len(ALL))
            assert stuck.accepted == []
        never.set()
    failures = await Webhooks(database).undelivered("wh_stuck", 100)
    assert "the receiver did not answer within 3 seconds" in {each.reason for each in failures}
    assert await Webhooks(database).undelivered("wh_quick", 100) == []


async def test_two_processes_send_everything_once(database: Database, reader: EventReader) -> None:
    async with (
        receiver() as target,
        sending(database, reader, sender(target)),
        sending(database, reader, sender(target)),
    ):
        await added(database, target)
        for number in range(6):
            await happens(database, *Story(battle(id=f"b{number}", query=f"Why {number}?")).told())
        await target.until(lambda: len(target.accepted) >= 6 * len(ALL))
    names = [each.name for each in target.arrived]
    assert len(names) == len(set(names)) == 6 * len(ALL)


async def test_after_a_kill_another_process_goes_on_and_nothing_is_lost(
    database: Database, reader: EventReader
) -> None:
    patience = replace(QUICK, lease=0.5, events=4)
    killed_at = 5

    async def slow_start(_: Arrived) -> int:
        if len(target.arrived) >= killed_at and not killed.is_set():
            await killed.wait()
        return 200

    killed = asyncio.Event()
    async with receiver(slow_start) as target:
        hook = await added(database, target)
        for number in range(3):
            await happens(database, *Story(battle(id=f"b{number}", query=f"Why {number}?")).told())
        async with sending(database, reader, sender(target), patience) as victim:
            await target.until(lambda: len(target.arrived) >= killed_at)
            victim.cancel()  # as a kill: it stores nothing and keeps its lease
            await asyncio.gather(victim, return_exceptions=True)
            killed.set()
            async with sending(database, reader, sender(target), patience):
                await target.until(lambda: len({each.name for each in target.accepted}) == 3 * len(ALL))
    ids = {}
    for each in target.arrived:
        assert ids.setdefault(each.name, each.id) == each.id  # what came twice has the same id
    assert len(set(ids.values())) == len(ids) == 3 * len(ALL)
    assert await Webhooks(database).undelivered(hook.id, 9) == []


async def test_a_process_that_lost_its_lease_stores_nothing(database: Database, reader: EventReader) -> None:
    moments = [datetime.now(UTC)]
    async with receiver() as target, sender(target) as sends:
        hook = await added(database, target)
        await happens(database, *Story(battle()).told()[:2])
        store, tail = Webhooks(database), EventTail(database)
        one, other = (
            Dispatcher(
                store=store,
                tail=tail,
                events=reader,
                sender=sends,
                owner=name,
                patience=QUICK,
                now=lambda: moments[0],
            )
            for name in ("one", "other")
        )
        assert await one.deliver(hook.id, asyncio.Event())
        with pytest.raises(LeaseLost):
            await other.deliver(hook.id, asyncio.Event())
        await happens(database, *Story(battle()).told()[2:3])
        moments[0] += timedelta(seconds=QUICK.lease + 1)
        assert await other.deliver(hook.id, asyncio.Event())
        before = await store.get(hook.id)
        assert before is not None
        assert not await store.save(before.model_copy(update={"failures": 9}), "one", [], [])
        with pytest.raises(LeaseLost):
            await one.deliver(hook.id, asyncio.Event())
        assert await store.get(hook.id) == before


async def test_an_event_of_a_clock_that_is_behind_is_sent(database: Database, reader: EventReader) -> None:
    async with receiver() as target, sending(database, reader, sender(target)):
        await added(database, target)
        story = Story(battle())
        await happens(database, story.submitted())
        await target.until(lambda: len(target.accepted) == 1)
        late = story.scraped()
        kind = type(late)
        new = NewEvent(message_id(late), event_name(kind), late, schema_of(kind), encode(late))
        await Battles(database).record_all([new], datetime.now(UTC) - timedelta(hours=2))
        await target.until(lambda: len(target.accepted) == 2)
    assert [each.name[1:] for each in target.arrived] == [(1, "submitted"), (2, "scraped")]


async def test_a_receiver_that_is_gone_is_switched_off_and_goes_on_where_it_stopped(
    database: Database, reader: EventReader
) -> None:
    store = Webhooks(database)
    async with receiver(statuses(200, 410)) as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        await happens(database, *Story(battle()).told()[:3])
        async with asyncio.timeout(90):
            while (stored := await store.get(hook.id)) is None or stored.enabled:
                await asyncio.sleep(0.01)
        assert stored.last_error == "the receiver answers 410; switched off"
        await happens(database, *Story(battle()).told()[3:])
        target.answer = statuses(200)
        assert await store.retry(hook.id, datetime.now(UTC))
        # What was accepted shortly before may come again, with the same id.
        await target.until(lambda: {*target.kinds()} == {*ALL})
    assert len({each.id for each in target.accepted}) == len(ALL)


async def test_a_receiver_without_any_success_is_switched_off_in_the_end(
    database: Database, reader: EventReader
) -> None:
    moments = [datetime.now(UTC)]
    async with receiver(statuses(500)) as target, sender(target) as sends:
        hook = await added(database, target)
        await happens(database, Story(battle()).submitted())
        dispatcher = Dispatcher(
            store=Webhooks(database),
            tail=EventTail(database),
            events=reader,
            sender=sends,
            owner="test",
            patience=Patience(),
            now=lambda: moments[0],
        )
        first, tried = moments[0], 0
        while (stored := await Webhooks(database).get(hook.id)) is not None and stored.enabled:
            await dispatcher.deliver(hook.id, asyncio.Event())
            if len(target.arrived) > tried and len(target.arrived) % 12 == 0:  # this event is given up
                await happens(database, Story(battle(id=f"b{len(target.arrived)}")).submitted())
            tried = len(target.arrived)
            moments[0] += timedelta(minutes=30)
    assert stored is not None
    assert "switched off" in (stored.last_error or "")
    assert timedelta(days=3) <= moments[0] - first <= timedelta(days=3, hours=2)


async def test_a_receiver_that_asks_for_time_gets_it(database: Database, reader: EventReader) -> None:
    headers = "retry-after: 120\r\n"
    async with (
        receiver(statuses(429), more_headers=headers) as target,
        sending(database, reader, sender(target)),
    ):
        hook = await added(database, target)
        before = datetime.now(UTC)
        await happens(database, Story(battle()).submitted())
        async with asyncio.timeout(90):
            while (stored := await Webhooks(database).get(hook.id)) is None or not stored.failures:
                await asyncio.sleep(0.01)
    # No longer than the longest pause, which is short here.
    assert stored.paused_until is not None
    assert stored.paused_until - before >= timedelta(seconds=QUICK.longest)
    assert Patience().pause(1, 120.0) >= timedelta(seconds=120)


async def test_nothing_is_sent_to_addresses_that_are_not_public(database: Database) -> None:
    async with receiver() as target, sender() as guarded:
        hook = await added(database, target)
        for url in (target.url, "http://localhost/x", "https://169.254.169.254/latest", "http://[::1]/"):
            with pytest.raises(NotAccepted, match="blocked by the address guard"):
                await guarded.send(hook.model_copy(update={"url": url}), "id", b"{}")
    assert target.arrived == []


async def test_redirects_are_not_followed(database: Database) -> None:
    headers = "location: http://169.254.169.254/\r\n"
    async with receiver(statuses(307), more_headers=headers) as target, sender(target) as sends:
        hook = await added(database, target)
        with pytest.raises(NotAccepted, match="the receiver answers 307"):
            await sends.send(hook, "id", b"{}")
    assert len(target.arrived) == 1


async def test_an_event_that_cannot_be_read_holds_up_no_other(
    database: Database, reader: EventReader
) -> None:
    async with receiver() as target, sending(database, reader, sender(target)):
        hook = await added(database, target)
        story = Story(battle())
        await happens(database, story.submitted())
        await damaged(database, story.scraped(), event_table, body=b"\xffno deflate")
        await happens(database, story.judged())
        await target.until(lambda: len(target.accepted) == 2)
    assert [each.name[1:] for each in target.arrived] == [(1, "submitted"), (3, "judged")]
    assert await Webhooks(database).undelivered(hook.id, 9) == []


async def test_a_deleted_battle_is_not_sent_and_leaves_nothing(
    database: Database, reader: EventReader
) -> None:
    store = Webhooks(database)
    async with receiver(statuses(500)) as target:
        async with sending(database, reader, sender(target)):
            hook = await added(database, target)
            await happens(database, *Story(battle()).told())
            async with asyncio.timeout(90):
                while not await store.undelivered(hook.id, 99):
                    await asyncio.sleep(0.01)
        await Deletions(database).delete("tides", datetime.now(UTC))
        assert await store.undelivered(hook.id, 99) == []
    assert await store.remove(hook.id)
    assert await store.get(hook.id) is None
