"""A model that is away is named where people look: on the battle, on its page, and by the readiness."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from arena.v1 import arena_pb2

from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus
from services.runtime.llm.cause import Cause, FirstAway
from services.wire.model_state import ModelStateReporter, ModelStates, WaitingStage
from tests.integration.gateway.world import Story, World, battle

SINCE = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


def told(
    stage: Stage, process: str, cause: Cause = Cause.OVERLOADED, since: datetime | None = SINCE
) -> bytes:
    message = arena_pb2.ModelState(stage=stage.value, process=process, cause=cause.value)
    if since is not None:
        message.since.FromDatetime(since)
    return message.SerializeToString()


async def test_a_battle_names_the_stages_that_wait_for_the_model(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted(), story.scraped(), story.indexed())
    for stage in (Stage.NUGGETIZER, Stage.JUDGE, Stage.ASSIGNER):
        world.gateway.models.hear(told(stage, stage.value, Cause.KEY))
    assert (await world.http.get("/v1/battles/tides")).json()["waiting"] == []  # it is not their turn

    await world.happens(story.retrieved())
    waiting = (await world.http.get("/v1/battles/tides")).json()["waiting"]
    assert [(entry["stage"], entry["cause"], entry["since"]) for entry in waiting] == [
        ("nuggetizer", "key", "2026-05-04T12:00:00Z"),
        ("judge", "key", "2026-05-04T12:00:00Z"),
    ]
    page = (await world.http.get("/battles/tides")).text
    assert "<strong>Retrying Judge.</strong> The model does not answer: its endpoint rejects the" in page
    assert page.count('class="retrying"') == 2  # Extract and Judge
    assert 'Judge<span class="unseen">: retrying</span>' in page

    await world.happens(story.nuggetized(), story.assigned(), story.judged())
    assert (await world.http.get("/v1/battles/tides")).json()["waiting"] == []


async def test_the_readiness_notes_a_model_that_is_away_and_stays_ready(world: World) -> None:
    world.gateway.models.hear(told(Stage.JUDGE, "one"))
    ready = await world.http.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["notes"] == [
        "judge waits for the model: its endpoint is overloaded, since 2026-05-04 12:00 UTC"
    ]
    world.gateway.models.hear(told(Stage.JUDGE, "one", since=None))
    assert (await world.http.get("/readyz")).json()["notes"] == []


async def test_a_process_reports_that_the_model_went_away_and_that_it_answers_again(bus: Bus) -> None:
    away: FirstAway | None = None
    states, stop = ModelStates(), asyncio.Event()
    reporter = ModelStateReporter(bus, Stage.JUDGE, lambda: away)

    async def until(expected: list[WaitingStage]) -> None:
        async with asyncio.timeout(90):
            while states.waiting() != expected:
                await asyncio.sleep(0.02)

    async with states.listening(bus):
        reporting = asyncio.create_task(reporter.run(stop))
        away = FirstAway(Cause.TIMEOUT, SINCE.timestamp())
        await until([WaitingStage(Stage.JUDGE, Cause.TIMEOUT, SINCE)])
        away = replace(away, fallback_answers=False)
        await until([WaitingStage(Stage.JUDGE, Cause.TIMEOUT, SINCE, fallback_answers=False)])
        away = replace(away, fallback_answers=True)
        await until([])
        in_use = WaitingStage(Stage.JUDGE, Cause.TIMEOUT, SINCE, fallback_answers=True)
        assert states.without_first() == [in_use]
        away = None
        await until([])
        stop.set()
        await reporting


async def test_the_readiness_says_which_endpoint_is_in_use_and_whether_each_answers(world: World) -> None:
    def state(answers: bool) -> bytes:
        message = arena_pb2.ModelState.FromString(told(Stage.JUDGE, "one", Cause.KEY))
        message.fallback_answers = answers
        return message.SerializeToString()

    world.gateway.models.hear(state(answers=True))
    assert (await world.http.get("/readyz")).json()["notes"] == [
        "judge asks the fallback endpoint, not the first one: its endpoint rejects the API key, "
        "since 2026-05-04 12:00 UTC"
    ]
    assert world.gateway.models.waiting() == []
    world.gateway.models.hear(state(answers=False))
    assert (await world.http.get("/readyz")).json()["notes"] == [
        "judge waits for the model: its endpoint rejects the API key; the fallback does not answer either, "
        "since 2026-05-04 12:00 UTC"
    ]


def test_a_process_that_is_not_heard_any_more_is_forgotten() -> None:
    now = 0.0
    states = ModelStates(clock=lambda: now)
    states.hear(told(Stage.JUDGE, "one"))
    now = 14.0
    assert states.waiting()
    now = 16.0
    assert states.waiting() == []


def test_of_several_processes_of_a_stage_the_longest_outage_counts() -> None:
    states = ModelStates()
    states.hear(told(Stage.JUDGE, "one", Cause.OVERLOADED, SINCE + timedelta(minutes=1)))
    states.hear(told(Stage.JUDGE, "two", Cause.TIMEOUT, SINCE))
    states.hear(told(Stage.NUGGETIZER, "three", Cause.KEY, SINCE))
    assert states.waiting() == [
        WaitingStage(Stage.NUGGETIZER, Cause.KEY, SINCE),
        WaitingStage(Stage.JUDGE, Cause.TIMEOUT, SINCE),
    ]


def test_what_cannot_be_read_is_ignored() -> None:
    states = ModelStates()
    unknown = arena_pb2.ModelState(stage="judge", process="one", cause="new")
    unknown.since.FromDatetime(SINCE)
    for body in (b"\xff\xff", unknown.SerializeToString()):
        states.hear(body)
    assert states.waiting() == []
