"""Outcomes of recorded events: each is counted with its event, and once, whatever becomes of the stream."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleAssigned, BattleJudged
from nuggetstream.domain.nugget import Assignment, Support
from services.store.outcomes.outcomes import Outcomes
from services.store.outcomes.recount import recount
from tests.integration.gateway.world import LABELS, Story, World, battle, submission


@pytest.fixture
async def story(world: World) -> Story:
    """A battle that was accepted."""
    await world.http.post("/v1/battles", json=submission())
    return Story(battle())


async def counted(world: World) -> dict[str, tuple[Vote, int | None]]:
    """The outcomes of the battle by source, with the version of their list."""
    stored = await Outcomes(world.database).of_battle("tides")
    return {outcome.source: (outcome.winner, outcome.list_version) for outcome in stored}


def by(name: str, event: BattleJudged, **changes: object) -> BattleJudged:
    judgment = replace(event.judgment, evaluator=name, **changes)  # type: ignore[arg-type]
    return replace(event, key=f"{event.key} {name} {judgment.list_version}", judgment=judgment)


def edited(event: BattleAssigned, version: int) -> BattleAssigned:
    """The list in a later version, whose labels favour B."""
    labels = [
        Assignment(each.nugget_id, each.side, Support.SUPPORT if each.side == "b" else Support.NOT_SUPPORT)
        for each in LABELS
    ]
    nuggets = replace(event.nugget_list, edit=version - 1)
    given = replace(event.assignment_set, assignments=tuple(labels))
    return replace(event, key=f"{event.key} {version}", nugget_list=nuggets, assignment_set=given)


async def test_every_outcome_is_counted_once_however_often_its_event_comes(
    world: World, story: Story
) -> None:
    """The vote, a list, two judges, one of which is an evaluator."""
    other = by("second", story.judged(Vote.B), additional=True)
    for _ in range(2):
        await world.happens(*story.told(), other, story.voted(Vote.B))
    assert await counted(world) == {
        "human": (Vote.B, None),
        "judge:pairwise": (Vote.A, None),
        "judge:second": (Vote.B, None),
        "nugget": (Vote.A, 1),
    }
    assert not any((await recount(world.database, repair=False)).values())


async def test_labels_of_an_edited_list_replace_the_outcome_and_older_ones_that_come_late_do_not(
    world: World, story: Story
) -> None:
    await world.happens(*story.told(), edited(story.assigned(), 3))
    await world.happens(edited(story.assigned(), 2))
    assert (await counted(world))["nugget"] == (Vote.B, 3)


async def test_a_verdict_of_a_second_run_replaces_the_first(world: World, story: Story) -> None:
    await world.happens(*story.told(), replace(story.judged(Vote.B), key="again"))
    assert (await counted(world))["judge:pairwise"] == (Vote.B, None)
