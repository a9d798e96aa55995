"""Inputs of evaluators that a lost stream took with it: each evaluator gets what it never graded, once."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleEvent, BattleFailed, BattleGraded
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.grade import Criterion, Grade, Grading, Subject
from nuggetstream.domain.pipeline import Stage
from services.recorder.reconciler import Reconciler, reconciler
from services.runtime.bus import ensure
from services.store.work.pending import work
from services.wire import topology
from services.wire.codec import decode
from tests.integration.gateway.world import GRADERS, Story, World, battle, submission

MINUTE = timedelta(minutes=1)


def reconciler_of(world: World, evaluators: Sequence[str] = GRADERS) -> Reconciler:
    return reconciler(world.bus, world.database, world.blobs, evaluators=evaluators)


@pytest.fixture
async def story(world: World) -> Story:
    """A battle that was evaluated; its evaluator has not graded it."""
    return await told(world, GRADERS)


async def told(world: World, evaluators: Sequence[str]) -> Story:
    """A battle that was evaluated while these evaluators were declared."""
    world.recorder.evaluators = evaluators
    await world.http.post("/v1/battles", json=submission())
    story = Story(battle())
    await world.happens(*story.told())
    return story


async def lose_the_stream(world: World, evaluators: Sequence[str] = GRADERS) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers(evaluators))


async def inputs(world: World) -> list[tuple[str, BattleEvent]]:
    """What evaluators alone read: the subject and the event."""
    found = []
    state = (await world.bus.js.stream_info("ARENA")).state
    for sequence in range(max(state.first_seq, 1), state.last_seq + 1):
        message = await world.bus.js.get_msg("ARENA", sequence)
        if (message.subject or "").startswith("arena.v1.grading."):
            event = decode((message.headers or {})["schema"], message.data or b"")
            found.append((message.subject, event))
    return found


async def later(reconciling: Reconciler, minutes: int = 3) -> int:
    return await reconciling.reconcile(datetime.now(UTC) + minutes * MINUTE)


def graded(evaluator: str = "answer_quality") -> BattleGraded:
    criterion = Criterion("relevance", "0-2", 0.0, 2.0)
    grade = Grade(Subject.answer(Side.A), "relevance", 2.0)
    return BattleGraded("graded", "tides", "demo", Grading(evaluator, "m", "1", (criterion,), (grade,)))


def gave_up() -> BattleFailed:
    failure = StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "It declined.", evaluator="answer_quality")
    return BattleFailed("failed", "tides", "demo", failure)


async def test_an_evaluator_gets_what_the_stream_lost_once(world: World, story: Story) -> None:
    await lose_the_stream(world)
    reconciling = reconciler_of(world)
    assert await later(reconciling, minutes=1) == 0  # what the lost stream delivered may not be recorded yet
    assert await later(reconciling) == 1
    assert await inputs(world) == [("arena.v1.grading.answer_quality", story.retrieved())]
    assert await later(reconciling) == 0
    assert await later(reconciler_of(world)) == 0  # another process, or the same one after a restart


@pytest.mark.parametrize("state", ["graded", "failed"])
async def test_what_an_evaluator_has_graded_or_given_up_is_left_alone(
    world: World, story: Story, state: str
) -> None:
    await world.happens(graded() if state == "graded" else gave_up())
    await lose_the_stream(world)
    assert await later(reconciler_of(world)) == 0


async def test_each_evaluator_gets_the_event_that_it_reads(world: World) -> None:
    declared = (*GRADERS, "second_assigner")
    story = await told(world, declared)
    await lose_the_stream(world, declared)
    assert await later(reconciler_of(world, declared)) == 2
    assert dict(await inputs(world)) == {
        "arena.v1.grading.answer_quality": story.retrieved(),
        "arena.v1.grading.second_assigner": story.assigned(),
    }


async def test_what_an_evaluator_leaves_out_is_no_sign_of_a_loss(world: World, story: Story) -> None:
    assert story.battle.id == "tides"
    async with world.database.transaction() as tx:  # recorded some time after the stream was created
        await tx.execute(update(work).values(waits_since=datetime.now(UTC) + 5 * MINUTE))
    assert await later(reconciler_of(world), minutes=600) == 0


async def test_an_evaluator_that_is_no_longer_declared_gets_nothing(world: World, story: Story) -> None:
    assert story.battle.id == "tides"
    await lose_the_stream(world, ())
    assert await later(reconciler_of(world, ())) == 0


async def test_only_what_the_lost_stream_can_have_had_is_published_again(world: World, story: Story) -> None:
    await lose_the_stream(world)
    async with world.database.transaction() as tx:
        await tx.execute(update(work).values(waits_since=datetime.now(UTC) - timedelta(days=8)))
    assert await later(reconciler_of(world)) == 0
    async with world.database.transaction() as tx:
        await tx.execute(update(work).values(waits_since=datetime.now(UTC) - timedelta(days=6)))
    assert await later(reconciler_of(world)) == 1
    assert [event for _, event in await inputs(world)] == [story.retrieved()]
