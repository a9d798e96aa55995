"""What a service that is taken over publishes changes nothing but what is its own to say."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.event import BattleEvent
from services.recorder import stage as recorder
from services.recorder.stage import Recorder
from services.runtime.runner import Runner
from services.store.battles.battles import Battles
from services.store.outcomes.outcomes import Outcomes
from services.wire.codec import inline
from services.wire.subjects import SUBJECTS
from tests.integration.gateway.world import Story, World, battle


async def ignores(_subject: str, _body: bytes) -> None:
    return None


@asynccontextmanager
async def recording(world: World) -> AsyncIterator[None]:
    stage = recorder.build(Recorder(Battles(world.database), ignores), world.blobs)
    stop = asyncio.Event()
    running = asyncio.create_task(Runner(world.bus, stage).run(stop))
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait_for(running, 60)


async def dead_letters(world: World, number: int) -> None:
    async with asyncio.timeout(30):
        while (await world.bus.js.stream_info("DEAD")).state.messages < number:
            await asyncio.sleep(0.02)


async def test_a_verdict_on_the_subject_of_another_event_changes_no_board(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted())
    judged = inline(story.judged())
    async with recording(world):
        for number, subject in enumerate(sorted(set(SUBJECTS.values()) - {judged.subject}), start=1):
            if subject.startswith("arena.v1.ratings"):
                continue
            await world.bus.publish(replace(judged, subject=subject, id=f"forged {number}"))
        await dead_letters(world, len(SUBJECTS) - 2)
    names = [event.name for event in await world.gateway.battles.events_of("tides")]
    assert "judged" not in names
    assert (await Outcomes(world.database).counts(story.battle.arena))["judge"] == 0


def changed(of: Battle) -> dict[str, Battle]:
    return {
        "query": replace(of, query="Which answer is longer?"),
        "answer": replace(of, a=replace(of.a, text="Another answer.")),
        "system": replace(of, b=replace(of.b, system="somebody else")),
        "arena": replace(of, arena="another"),
        "sources": replace(of, a=replace(of.a, sources=())),
    }


@pytest.mark.parametrize("what", ["query", "answer", "system", "arena", "sources"])
async def test_an_event_with_another_battle_than_the_accepted_one_is_not_recorded(
    world: World, what: str
) -> None:
    story = Story(battle())
    await world.happens(story.submitted())
    forged = changed(story.battle)[what]
    assert forged != story.battle
    own = (story.scraped(), story.judged())
    events: list[BattleEvent] = [replace(event, key="forged", battle=forged) for event in own]
    async with recording(world):
        for event in events:
            await world.bus.publish(inline(event))
        await dead_letters(world, len(events))
        await world.bus.publish(inline(story.judged()))
        async with asyncio.timeout(30):
            while len(recorded := await world.gateway.battles.events_of("tides")) < 2:
                await asyncio.sleep(0.02)
    assert [event.name for event in recorded] == ["submitted", "judged"]
