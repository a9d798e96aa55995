"""A battle with two nuggetizers, as clients and people see it."""

from dataclasses import replace
from typing import TypeVar

from nuggetstream.domain.event import BattleAssigned, BattleFailed, BattleNuggetized
from nuggetstream.domain.failure import Reason, Stage, StageFailure
from services.recorder.stage import Recorder
from services.store.battles import Battles
from tests.integration.gateway.world import Story, World, battle, submission

E = TypeVar("E", BattleNuggetized, BattleAssigned)


def of(name: str, event: E) -> E:
    listed = replace(event.nugget_list, nuggetizer=name, additional=name != "first", model=f"model of {name}")
    return replace(event, key=f"{event.key} {name}", nugget_list=listed)


async def test_the_lists_and_failures_of_two_nuggetizers_are_told_apart(world: World) -> None:
    battles = Battles(world.database, nuggetizers=("first", "second"))
    recorder, story = Recorder(battles, world.bus.core_publish), Story(battle())
    await world.http.post("/v1/battles", json=submission())
    told = [each for each in story.told() if not isinstance(each, BattleNuggetized | BattleAssigned)]
    for event in [*told, of("first", story.nuggetized()), of("first", story.assigned())]:
        await recorder(event)

    async def seen() -> dict[str, object]:
        view = (await world.http.get("/v1/battles/tides")).json()
        lists = {other["nuggetizer"]: other["verdict"] is not None for other in view["other_lists"]}
        failures = [(failure["stage"], failure["evaluator"]) for failure in view["failures"]]
        return {"state": view["state"], "first": view["nuggetizer"], "lists": lists, "failures": failures}

    assert await seen() == {"state": "running", "first": "first", "lists": {}, "failures": []}
    first = (await world.http.get("/v1/battles/tides")).json()

    await recorder(of("second", story.nuggetized()))
    refused = StageFailure(Stage.ASSIGNER, Reason.LLM_REFUSED, "It declined.", evaluator="second")
    await recorder(BattleFailed("second failed", "tides", story.battle.arena, refused))
    assert await seen() == {
        "state": "partial",
        "first": "first",
        "lists": {"second": False},
        "failures": [("assigner", "second")],
    }

    await recorder(of("second", story.assigned()))
    assert await seen() == {"state": "scored", "first": "first", "lists": {"second": True}, "failures": []}
    now = (await world.http.get("/v1/battles/tides")).json()
    for part in ("nuggets", "nugget_verdict", "explanation", "nugget_history"):  # rest on the first list
        assert now[part] == first[part]
    page = (await world.http.get("/battles/tides")).text
    assert 'Nuggetizer <strong dir="auto">second</strong>' in page
    assert 'by <span dir="auto">model of second</span>' in page
    assert page.count('id="nugget-1"') == 1


async def test_the_board_of_nuggets_counts_the_first_list_and_leads_to_the_other(world: World) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told(), of("second", story.nuggetized()), of("second", story.assigned()))
    arena = story.battle.arena
    boards = (await world.http.get(f"/v1/leaderboard?arena={arena}&lens=nugget&lens=other_nugget")).json()
    nugget, other = boards
    assert (nugget["outcomes"], other["outcomes"]) == (1, 1)
    assert (nugget["evaluators"], other["evaluators"]) == ([], ["second"])
    page = (await world.http.get(f"/leaderboard?arena={arena}")).text
    link = f"/leaderboard?arena={arena}&amp;lens=other_nugget&amp;evaluator=second"
    assert f'href="{link}"' in page
    assert "Other nugget lists" not in page
    page = (await world.http.get(link.replace("&amp;", "&"))).text
    assert "Other nugget lists" in page
    assert 'The nuggetizer <strong dir="auto">second</strong>' in page
