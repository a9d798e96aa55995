"""An evaluation submits as many battles in one request as there is room for in flight."""

import asyncio

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.submission import parse_submission
from services.cli.embedded import Embedded
from services.cli.evaluation import Evaluation
from services.cli.kept_lines import kept
from services.runtime.metrics import HTTP_SECONDS
from services.store.battles import Battles
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
    assert requests() - before == 2
    assert list(evaluation.accepted) == ["b0", "b1", "b2", "b3"]
    [rejected] = evaluation.rejected
    assert rejected.line == CONFLICT
    views = [view async for view in evaluation.views()]
    assert [view["state"] for view in views] == ["scored"] * 4
    for view in views:
        answer = await world.http.get(f"/v1/battles/{view['id']}")
        assert {name: view[name] for name in answer.json()} == answer.json()
        assert set(view) - set(answer.json()) == {"cost", "spend"}
