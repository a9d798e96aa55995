"""A stage that tries a battle again is named, with the reason, on the battle and on its page."""

import asyncio
import re
from dataclasses import replace

import pytest
from arena.v1 import arena_pb2

from nuggetstream.domain.event import BattleRetrieved, Event
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from services.gateway.battles.waiting import waiting_views
from services.runtime.bus import Backoff
from services.runtime.errors import ModelOutage, Outage, Retryable, StageError
from services.runtime.runner import Runner
from services.wire import retries, topology
from services.wire.codec import seal
from services.wire.model_state import ModelStates
from services.wire.retries import StageRetries, retry_notice
from services.wire.stages import event_stage
from tests.integration.gateway.test_model_state import told
from tests.integration.gateway.world import Story, World, battle

DEADLINE = StageFailure(Stage.JUDGE, Reason.DEADLINE, "no result within 60 s", attempts=2)
FAILURES = (
    Retryable(Reason.REPLY_UNUSABLE, "the reply has no verdict"),
    Outage(Reason.STORE_UNAVAILABLE, "the retriever does not answer"),
    ModelOutage(Reason.LLM_UNAVAILABLE, "the model's endpoint answers with status 500", patience=60.0),
)


@pytest.mark.parametrize("error", FAILURES, ids=lambda error: type(error).__name__)
async def test_a_battle_names_the_stage_that_tries_again_until_it_has_ended(
    world: World, error: StageError
) -> None:
    story, attempts, release, stop = Story(battle()), list[int](), asyncio.Event(), asyncio.Event()

    async def judges(event: BattleRetrieved) -> list[Event]:
        attempts.append(1)
        if len(attempts) == 1:
            raise error
        await release.wait()
        return [story.judged()]

    async def waiting() -> list[dict[str, object]]:
        return list((await world.http.get("/v1/battles/tides")).json()["waiting"])

    await world.happens(story.submitted(), story.scraped(), story.indexed(), story.retrieved())
    await world.bus.publish(await seal(story.retrieved(), world.blobs))
    consumer = replace(topology.consumer(Stage.JUDGE), backoff=Backoff(base=0.01, cap=0.1))
    stage = event_stage(Stage.JUDGE, judges, world.blobs, concurrency=1, deadline=60.0, consumer=consumer)
    async with world.gateway.retries.listening(world.bus):
        running = asyncio.create_task(Runner(world.bus, stage).run(stop))
        async with asyncio.timeout(90):
            while len(attempts) < 2 or not (found := await waiting()):
                await asyncio.sleep(0.02)
        [entry] = found
        assert (entry["stage"], entry["cause"]) == ("judge", error.reason.value)
        assert (entry["reason"], entry["attempts"]) == (f"judge tries again: {error.detail}", 1)
        page = (await world.http.get("/battles/tides")).text
        assert "<strong>Retrying Judge.</strong>" in page
        assert f"</time>: {error.detail.replace(chr(39), '&#39;')}." in page
        assert page.count('class="retrying"') == 1

        release.set()
        await world.happens(story.judged())
        assert await waiting() == []
        stop.set()
        await running


async def test_the_page_of_a_battle_tells_one_failed_attempt_from_the_next(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted(), story.scraped(), story.indexed(), story.retrieved())
    seen = set[str]()
    for attempts in (2, 3):
        failure = replace(DEADLINE, attempts=attempts)
        world.gateway.retries.hear(retry_notice(story.retrieved(), failure, seconds=60.0).body)
        page = (await world.http.get("/battles/tides")).text
        assert f"Attempt {attempts} failed at " in page
        seen.update(re.findall(r'data-waiting="([^"]+)"', page))
    assert len(seen) == 2  # a page that is open shows what is new


def test_a_retry_is_forgotten_when_the_next_attempt_must_have_ended() -> None:
    now = 0.0
    known = StageRetries(clock=lambda: now)
    known.hear(retry_notice(Story(battle()).retrieved(), DEADLINE, seconds=60.0).body)
    [retry] = known.of("tides", [Stage.JUDGE])
    assert (retry.reason, retry.detail, retry.attempts) == (DEADLINE.reason, DEADLINE.detail, 2)
    assert known.of("tides", [Stage.NUGGETIZER]) == known.of("moons", [Stage.JUDGE]) == []
    now = 100.0
    assert known.of("tides", [Stage.JUDGE]) == []


def test_a_stage_that_waits_for_the_model_is_not_shown_as_retried_too() -> None:
    known, models, stages = StageRetries(), ModelStates(), [Stage.JUDGE, Stage.NUGGETIZER]
    for stage in stages:
        failure = replace(DEADLINE, stage=stage)
        known.hear(retry_notice(Story(battle()).retrieved(), failure, seconds=60.0).body)
    models.hear(told(Stage.JUDGE, "one"))
    shown = waiting_views("tides", stages, models, known)
    assert [(view.stage, view.cause, view.attempts) for view in shown] == [
        (Stage.NUGGETIZER, "deadline", 2),
        (Stage.JUDGE, "overloaded", None),
    ]


def test_the_oldest_retries_are_forgotten_first_and_what_cannot_be_read_is_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(retries, "_MOST", 2)
    known = StageRetries()
    for name in ("one", "two", "three"):
        event = Story(battle(id=name)).retrieved()
        known.hear(retry_notice(event, DEADLINE, seconds=60.0).body)
    unknown = arena_pb2.StageRetry(battle_id="two", stage="judge", reason="new", seconds=60.0)
    for body in (b"\xff\xff", unknown.SerializeToString()):
        known.hear(body)
    assert [bool(known.of(name, [Stage.JUDGE])) for name in ("one", "two", "three")] == [False, True, True]
