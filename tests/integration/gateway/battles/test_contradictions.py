"""A label that is a contradiction, as clients and people see it."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleAssigned
from nuggetstream.domain.nugget import Assignment, Support, SupportProbabilities
from services.cli.demo.explain import nugget_table
from tests.integration.gateway.world import Story, World, battle, submission

QUOTE = "The Earth stands still."


def contradicted(event: BattleAssigned) -> BattleAssigned:
    """B contradicts n2, and how probable that is is known; of the other labels it is not."""

    def label(given: Assignment) -> Assignment:
        if (given.nugget_id, given.side) != ("n2", Side.B):
            return given
        shares = SupportProbabilities(0.0, 0.1, 0.1, 0.8)
        return replace(given, support=Support.CONTRADICTION, quote=QUOTE, probabilities=shares)

    labels = tuple(map(label, event.assignment_set.assignments))
    return replace(event, assignment_set=replace(event.assignment_set, assignments=labels))


@pytest.fixture
async def client(world: World) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(str(world.http.base_url)) as client:
        yield client


async def test_a_contradiction_is_an_error_of_the_answer_and_counts_as_no_support(
    world: World, client: AsyncClient
) -> None:
    await world.http.post("/v1/battles", json=submission())
    story = Story(battle())
    events = [contradicted(event) if isinstance(event, BattleAssigned) else event for event in story.told()]
    await world.happens(*events)
    shown = await client.battle("tides")
    nugget = next(each for each in shown.nuggets if each.id == "n2")
    assert nugget.b is not None
    assert (nugget.b.support, nugget.b.quote, nugget.b.cause) == (Support.CONTRADICTION, QUOTE, None)
    assert nugget.b.probabilities is not None
    assert nugget.b.probabilities.contradiction == 0.8
    assert shown.nugget_verdict is not None
    assert shown.nugget_verdict.b.all_score == pytest.approx(1.5 / 4)  # as with no support
    line = f"B contradicts: “{nugget.text}” It says: “{QUOTE}”"
    assert line in shown.explanation

    page = (await world.http.get("/battles/tides")).text
    assert 'B <span aria-hidden="true">≠</span><span class="unseen">contradicts it' in page
    assert "contradicts it 0.80" in page
    assert QUOTE in page
    assert "B contradicts: " in page
    marks = [str(cell) for cell in nugget_table(shown.model_dump(mode="json")).columns[2].cells]
    assert marks.count("≠") == 1
