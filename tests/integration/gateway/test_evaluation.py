"""An evaluation submits as many battles in one request as there is room for in flight."""

import asyncio

from nuggetstream.domain.event import BattleFailed
from nuggetstream.domain.pipeline import Stage
from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.submission import parse_submission
from services.cli.evaluation.kept_lines import kept
from services.cli.evaluation.run import Evaluation, Progress
from services.cli.wiring.embedded import Embedded
from services.runtime.metrics import HTTP_SECONDS
from services.store.battles.battles import Battles
from tests.integration.gateway.world import Story, World, battle, submission

WINDOW = 4
NAMES = ["b0", "b1", "b2", "b0", "b3"]
CONFLICT = 4  # line of another battle with the id of the first


def line(number: int, name: str) -> BattleLine:
    query = "Why is the sea salty?" if number == CONFLICT else "Why are there tides?"
    return BattleLine(number, parse_submission(submission(id=name, query=query)), {})


def requests() -> float:
    return sum(
        sample.value
        for family in HTTP_SECONDS.collect()
        for sample in family.samples
        if sample.name.endswith("_count")
        and sample.labels["http_request_method"] == "POST"
        and sample.labels["http_route"] == "/v1/battles"
    )


async def end(world: World) -> None:
    """End each battle once it is accepted."""
    pending = set(NAMES)
    while pending:
        for name in pending & (await Battles(world.database).get_all(pending)).keys():
            await world.happens(*Story(battle(id=name, query="Why are there tides?")).told())
            pending.discard(name)
        await asyncio.sleep(0.01)


async def test_battles_share_requests_and_each_line_is_answered(world: World) -> None:
    platform = Embedded(str(world.http.base_url), "", {}, world.database, world.bus)
    lines = kept(line(number, name) for number, name in enumerate(NAMES, start=1))
    before = requests()
    evaluation = Evaluation(platform, lines, lambda _: None, asyncio.Event(), window=WINDOW)
    async with asyncio.TaskGroup() as group:
        ending = group.create_task(end(world))
        assert await evaluation.run()
        await ending
    assert requests() - before == 1
    assert list(evaluation.accepted) == ["b0", "b1", "b2", "b3"]
    [rejected] = evaluation.rejected
    assert rejected.line == CONFLICT
    views = [view async for view in evaluation.views()]
    assert [view["state"] for view in views] == ["scored"] * 4
    for view in views:
        answer = await world.http.get(f"/v1/battles/{view['id']}")
        assert {name: view[name] for name in answer.json()} == answer.json()
        assert set(view) - set(answer.json()) == {"cost", "spend"}


async def test_progress_counts_each_battle_once_when_it_ends(world: World) -> None:
    platform = Embedded(str(world.http.base_url), "", {}, world.database, world.bus)
    lines = kept(line(number, name) for number, name in enumerate(["b0", "b1", "b2"], start=1))
    reports: list[Progress] = []
    evaluation = Evaluation(platform, lines, reports.append, asyncio.Event(), poll=0.01)

    async def end_one_by_one() -> None:
        for name in ("b0", "b1", "b2"):
            while await Battles(world.database).get(name) is None:
                await asyncio.sleep(0.01)
            story = Story(battle(id=name, query="Why are there tides?"))
            told = story.told() if name != "b1" else [story.submitted(), *failures(story)]
            await world.happens(*told)
            while reports[-1].done + reports[-1].failed <= int(name[1]):
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        ending = group.create_task(end_one_by_one())
        assert await evaluation.run()
        await ending
    counts = list(dict.fromkeys((report.done, report.failed, report.total) for report in reports))
    assert counts == [(0, 0, 3), (1, 0, 3), (1, 1, 3), (2, 1, 3)]
    again = Evaluation(platform, lines, reports.append, asyncio.Event())
    assert await again.run()
    assert (reports[-1].done, reports[-1].failed) == (2, 1)


def failures(story: Story) -> list[BattleFailed]:
    return [story.failed(Stage.NUGGETIZER), story.failed(Stage.JUDGE)]
