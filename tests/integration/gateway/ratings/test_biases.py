"""What verdicts depend on beside the answers: counted with outcomes, and shown in API, page and metrics."""

from dataclasses import replace
from typing import Any

from prometheus_client import REGISTRY
from sqlalchemy import event, update

from nuggetstream.client import AsyncClient
from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import BattleJudged
from nuggetstream.domain.judgment import OrderedVerdict, combine_orders
from services.store.outcomes.recount import recount
from services.store.tables import outcomes
from tests.databases import engines_of
from tests.integration.gateway.world import Story, World, battle, submission

SYSTEMS = {"own": "gpt-5", "other": "atlas"}
LONG, SHORT = "Tides follow the Moon and the Sun. " * 4, "Tides follow the Moon."


def verdict(story: Story, a_first: Vote, b_first: Vote) -> BattleJudged:
    """A verdict of a model of the family of one of the systems."""
    said = (OrderedVerdict(Side.A, a_first, "r"), OrderedVerdict(Side.B, b_first, "r"))
    winner, flipped = combine_orders(said)
    judged = story.judged()
    judgment = replace(
        judged.judgment, winner=winner, flipped=flipped, verdicts=said, model="gpt-5-mini", evaluator="biased"
    )
    return replace(judged, judgment=judgment)


async def fought(world: World, name: str, verdicts: tuple[Vote, Vote], vote: Vote) -> None:
    """One battle: A is by the judge's family and longer, B by another system."""
    sides = {
        "a": submission()["a"] | {"system": "gpt-5", "text": LONG},
        "b": submission()["b"] | {"system": "atlas", "text": SHORT},
    }
    await world.http.post("/v1/battles", json=submission(id=name, **sides))
    story = Story(battle(id=name, **sides))
    await world.happens(story.submitted(), verdict(story, *verdicts), story.voted(vote))


async def biases(world: World) -> dict[str, Any]:
    (found,) = (await world.http.get("/v1/biases?arena=demo")).json()
    return dict(found)


def of(measured: dict[str, Any]) -> tuple[int, int]:
    return measured["count"], measured["of"]


async def test_position_length_and_own_family_are_counted_shown_and_proved(world: World) -> None:
    assert (await world.http.get("/v1/biases?arena=demo")).json() == []
    await fought(world, "b1", (Vote.A, Vote.A), Vote.B)
    await fought(world, "b2", (Vote.A, Vote.A), Vote.A)
    await fought(world, "b3", (Vote.B, Vote.B), Vote.B)
    await fought(world, "b4", (Vote.A, Vote.B), Vote.TIE)  # the answer shown first, twice
    found = await biases(world)
    assert (found["evaluator"], found["lens"], found["model"], found["family"], found["verdicts"]) == (
        "biased", "judge", "gpt-5-mini", "openai", 4,
    )  # fmt: skip
    assert (of(found["order_changed"]), of(found["favours_first"])) == ((1, 4), (1, 1))
    assert (
        of(found["longer_wins"]) == of(found["twice_as_long_wins"]) == of(found["own_family_wins"]) == (2, 3)
    )
    assert of(found["people_longer_wins"]) == of(found["people_own_family_wins"]) == (1, 3)
    assert found["nuggets_longer_wins"]["value"] is None  # missing, not zero
    assert found["longer_wins"]["low"] < 2 / 3 < found["longer_wins"]["high"]
    assert found["longer_wins"]["few"] is True

    async with AsyncClient(str(world.http.base_url)) as client:
        assert [bias.model_dump(mode="json") for bias in await client.judge_biases("demo")] == [found]

    page = (await world.http.get("/leaderboard?arena=demo")).text
    assert "prefer systems of its family (openai)" in page
    assert "2 of 3, too few" in page
    assert "nuggets prefer" not in page
    labels = {"evaluator": "biased", "model": "gpt-5-mini"}
    position = REGISTRY.get_sample_value("nuggetstream_judge_position_total", labels | {"favoured": "first"})
    length = REGISTRY.get_sample_value("nuggetstream_judge_length_total", labels | {"winner": "longer"})
    assert (position, length) == (1, 2)

    assert set((await recount(world.database, repair=False)).values()) == {0}


async def test_outcomes_without_a_model_are_not_counted_and_reading_scans_no_outcomes(world: World) -> None:
    await fought(world, "b1", (Vote.A, Vote.A), Vote.B)
    async with world.database.transaction() as tx:
        await tx.execute(update(outcomes).values(judge_model=None, favoured=None, longer=None))
    await recount(world.database, repair=True)
    statements = list[str]()

    def remember(_c: Any, _cursor: Any, statement: str, _v: Any, _context: Any, _many: bool) -> None:
        statements.append(statement)

    for engine in engines_of(world.database):
        event.listen(engine, "before_cursor_execute", remember)
    assert (await world.http.get("/v1/biases?arena=demo")).json() == []
    assert [statement for statement in statements if "judge_counters" in statement]
    assert not [statement for statement in statements if "FROM outcomes" in statement]
