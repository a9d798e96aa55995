"""Outcomes of recorded events: none is lost with a stream, and each is counted once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleEvent,
    BattleFailed,
    BattleJudged,
    BattleVoted,
    Event,
)
from nuggetstream.domain.failure import Reason, Stage
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Assignment, Support
from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.submission import parse_submission
from services.cli import evaluation
from services.cli.embedded import Embedded
from services.cli.kept_lines import kept
from services.recorder.reconciler import Reconciler, reconciler
from services.runtime.bus import ensure
from services.store.deletion import Deletions
from services.store.outcomes import Outcomes
from services.store.pending_outcomes import pending_outcomes
from services.store.pending_votes import pending_votes
from services.store.recount import recount
from services.wire import topology
from services.wire.publishing import publisher
from tests.integration.gateway.world import LABELS, Story, World, battle, submission

MINUTE = timedelta(minutes=1)
RATED = BattleAssigned | BattleJudged | BattleVoted


@pytest.fixture
def reconciling(world: World) -> Reconciler:
    return reconciler(world.bus, world.database, world.blobs, quiet_after=900.0)


@pytest.fixture
async def story(world: World) -> Story:
    """A battle that was accepted with a vote, and whose first messages are handled."""
    await world.http.post("/v1/battles", json=submission(vote="b"))
    return Story(battle())


async def lose_the_stream(world: World) -> None:
    await world.bus.js.delete_stream("ARENA")
    await ensure(world.bus.js, topology.streams(), topology.consumers())


async def recorded_and_lost(world: World, events: Sequence[BattleEvent]) -> None:
    """The recorder handles events, and the stream is lost before the rater does."""
    for event in events:
        await world.recorder(event)
    await lose_the_stream(world)


async def handled(world: World) -> list[Event]:
    """The events in the stream, after recorder and rater handled all of them."""
    events = await world.published()
    await world.happens(*[event for event in events if isinstance(event, RATED)])
    return events


async def counted(world: World) -> dict[str, tuple[Vote, int | None]]:
    """The outcomes of the battle by source, with the version of their list."""
    stored = await Outcomes(world.database).of_battle("tides")
    return {outcome.source: (outcome.winner, outcome.list_version) for outcome in stored}


async def waiting(world: World) -> set[str]:
    """Sources of outcomes and votes that are recorded and not known to be counted."""
    async with world.database.reading() as tx:
        sources = set(await tx.scalars(select(pending_outcomes.c.source)))
        votes = (await tx.scalars(select(pending_votes.c.battle_id))).all()
    return sources | ({"human"} if votes else set())


def by(name: str, event: BattleJudged, **changes: object) -> BattleJudged:
    judgment = replace(event.judgment, evaluator=name, **changes)  # type: ignore[arg-type]
    return replace(event, key=f"{event.key} {name} {judgment.list_version}", judgment=judgment)


def listed(name: str, event: BattleAssigned) -> BattleAssigned:
    nuggets = replace(event.nugget_list, nuggetizer=name, additional=True)
    return replace(event, key=f"{event.key} {name}", nugget_list=nuggets)


def edited(event: BattleAssigned, version: int) -> BattleAssigned:
    """The list in a later version, whose labels favour B."""
    labels = [
        Assignment(each.nugget_id, each.side, Support.SUPPORT if each.side == "b" else Support.NOT_SUPPORT)
        for each in LABELS
    ]
    nuggets = replace(event.nugget_list, edit=version - 1)
    given = replace(event.assignment_set, assignments=tuple(labels))
    return replace(event, key=f"{event.key} {version}", nugget_list=nuggets, assignment_set=given)


async def test_every_outcome_that_the_stream_lost_is_counted_once(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    """The vote that came with the battle, two lists, two judges, one of which is an evaluator."""
    accepted = [event for event in await world.published() if isinstance(event, BattleVoted)]
    second = by("second", story.judged(Vote.B), additional=True)
    others = [listed("short", story.assigned()), second]
    await recorded_and_lost(world, [*accepted, *story.told(), *others])
    assert (await world.http.get("/v1/battles/tides")).json()["state"] == "scored"
    assert await counted(world) == {}
    now = datetime.now(UTC)
    assert await reconciling.reconcile(now) == 0  # they may be on their way
    assert await reconciling.reconcile(now + 2 * MINUTE) == 5
    assert len(await handled(world)) == 5
    assert {source: winner for source, (winner, _) in (await counted(world)).items()} == {
        "human": Vote.B,
        "nugget": Vote.A,
        "other_nugget:short": Vote.A,
        "judge:pairwise": Vote.A,
        "judge:second": Vote.B,
    }
    assert len(await world.gateway.battles.events_of("tides")) == 10
    assert await reconciling.reconcile(now + 600 * MINUTE) == 0
    assert await waiting(world) == set()
    assert not any((await recount(world.database, repair=False)).values())


async def test_an_edited_list_that_the_stream_lost_replaces_the_outcome_of_the_older_one(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    guided = by("guided", story.judged(), guided=True, additional=True, list_version=1)
    await world.happens(*story.told(), guided)
    again = by("guided", story.judged(Vote.B), guided=True, additional=True, list_version=2)
    await recorded_and_lost(world, [edited(story.assigned(), 2), again])
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 2
    await handled(world)
    outcomes = await counted(world)
    assert (outcomes["nugget"], outcomes["guided:guided"]) == ((Vote.B, 2), (Vote.B, 2))


async def test_labels_of_an_older_list_that_are_recorded_late_are_not_waited_for(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    await world.happens(*story.told()[:-2], edited(story.assigned(), 2), story.judged())
    await recorded_and_lost(world, [story.assigned()])
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert await waiting(world) == set()
    assert (await counted(world))["nugget"] == (Vote.B, 2)


async def test_a_verdict_of_a_second_run_that_the_stream_lost_replaces_the_first(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    """It is of the same judge and of no list: only its event tells it from the one that counts."""
    await world.happens(*story.told())
    rerun = replace(story.judged(Vote.B), key="a key of the second run")
    await recorded_and_lost(world, [rerun])
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 1
    await handled(world)
    assert (await counted(world))["judge:pairwise"] == (Vote.B, None)
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0


@pytest.mark.parametrize("first", ["recorder", "rater"])
async def test_what_both_have_handled_is_forgotten_whoever_was_first(
    world: World, story: Story, reconciling: Reconciler, first: str
) -> None:
    for event in story.told():
        handlers = [world.recorder, world.rater] if isinstance(event, RATED) else [world.recorder]
        for handler in handlers if first == "recorder" else reversed(handlers):
            await handler(event)
    await lose_the_stream(world)
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 0
    assert await waiting(world) == set()


async def test_what_waits_for_the_rater_is_left_alone(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    await lose_the_stream(world)
    for event in story.told():
        if isinstance(event, RATED):
            await publisher(world.bus, world.blobs)(event)
        await world.recorder(event)
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert len(await world.published()) == 2
    assert await waiting(world) == {"nugget", "judge:pairwise"}


async def test_what_waits_for_evaluators_alone_hides_no_loss(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    """The stream still has labels that the rater acked, because another consumer has not."""
    await lose_the_stream(world)
    await publisher(world.bus, world.blobs)(replace(story.assigned(), key="of another battle"))
    rater = await world.bus.js.pull_subscribe_bind("rater", "ARENA")
    (message,) = await rater.fetch(1)
    await message.ack_sync()
    for event in story.told():
        await world.recorder(event)
    assert await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE) == 2


async def test_an_evaluation_that_goes_on_after_the_loss_is_complete(
    world: World, story: Story, reconciling: Reconciler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "_SETTLE_SECONDS", 0.1)  # what is not counted now is not counted later
    line = BattleLine(1, parse_submission(submission(vote="b")), {})
    platform = Embedded(str(world.http.base_url), "", {}, world.database, world.bus)

    async def unsettled() -> list[str]:
        again = evaluation.Evaluation(platform, kept(iter([line])), lambda _: None, asyncio.Event())
        assert await again.run()
        return again.unsettled

    await recorded_and_lost(world, story.told())
    assert await unsettled() == ["demo"]
    await reconciling.reconcile(datetime.now(UTC) + 2 * MINUTE)
    await handled(world)
    assert await unsettled() == []


async def test_a_deleted_battle_is_not_waited_for(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    accepted = [event for event in await world.published() if isinstance(event, BattleVoted)]
    await recorded_and_lost(world, [*accepted, *story.told()])
    assert await waiting(world) == {"human", "nugget", "judge:pairwise"}
    await Deletions(world.database).delete("tides", datetime.now(UTC))
    assert await waiting(world) == set()
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0


async def test_a_battle_that_failed_is_not_waited_for(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    failed = [story.failed(Stage.NUGGETIZER), story.failed(Stage.JUDGE)]
    await recorded_and_lost(world, [*story.told()[:4], *failed])
    assert await reconciling.reconcile(datetime.now(UTC) + 600 * MINUTE) == 0
    assert await waiting(world) == set()


async def test_an_outcome_that_is_never_counted_ends_with_a_reason(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    await recorded_and_lost(world, story.told())
    await world.rater(story.judged())
    now = datetime.now(UTC)
    for hour in range(1, 12):
        await lose_the_stream(world)
        assert await reconciling.reconcile(now + timedelta(hours=2 * hour)) == 1
    (failed,) = await world.published()
    assert isinstance(failed, BattleFailed)
    assert (failed.failure.stage, failed.failure.reason) == (Stage.RATER, Reason.DEADLINE)
    assert "'nugget' was not counted, although its event was published 10 times more" in failed.failure.detail
    assert await waiting(world) == set()
    await world.happens(failed)
    assert (await world.http.get("/v1/battles/tides")).json()["state"] == "scored"


async def test_an_outcome_that_was_given_up_is_listed_and_counted_once_it_is_retried(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    await handled(world)  # the vote that came with the battle
    await recorded_and_lost(world, story.told())
    await world.rater(story.judged())
    for number in range(2):
        now = datetime.now(UTC) + timedelta(days=number)
        for hour in range(1, 12):
            await lose_the_stream(world)
            await reconciling.reconcile(now + timedelta(hours=2 * hour))
        (failed,) = await world.published()
        assert isinstance(failed, BattleFailed)
        await world.happens(failed)
        async with AsyncClient(str(world.http.base_url)) as client:
            assert [entry.id for entry in await client.admin_failures()] == [failed.key]
            assert (await client.act_on_failure(failed.key, "retry")).result == "retried"
            assert await client.admin_failures() == []
    assert await waiting(world) == {"nugget"}
    await lose_the_stream(world)
    assert await reconciling.reconcile(datetime.now(UTC) + timedelta(days=9)) == 1
    await handled(world)
    assert set(await counted(world)) == {"human", "nugget", "judge:pairwise"}


async def test_a_newer_vote_makes_the_one_that_came_with_the_battle_good(
    world: World, story: Story, reconciling: Reconciler
) -> None:
    (first,) = [event for event in await world.published() if isinstance(event, BattleVoted)]
    await recorded_and_lost(world, [first])
    assert await waiting(world) == {"human"}
    await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})
    await handled(world)
    assert await waiting(world) == set()
    counts = await world.gateway.outcomes.pair_counts("demo", Lens.HUMAN)
    assert [(count.winner, count.count) for count in counts] == [(Vote.A, 1)]
