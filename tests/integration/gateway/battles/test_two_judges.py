"""A battle with two judges, as clients and people see it."""

from dataclasses import replace

from nuggetstream.domain.event import BattleFailed, BattleJudged
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.pipeline import Stage
from tests.integration.gateway.world import Story, World, battle, submission


def of_strict(judged: BattleJudged) -> BattleJudged:
    return replace(
        judged, key="strict", judgment=replace(judged.judgment, evaluator="strict", additional=True)
    )


async def test_the_verdicts_and_failures_of_two_judges_are_told_apart(world: World) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())

    async def seen() -> dict[str, object]:
        view = (await world.http.get("/v1/battles/tides")).json()
        (step,) = [step["state"] for step in view["steps"] if step["name"] == "judge"]
        failures = [failure["evaluator"] for failure in view["failures"]]
        judges = [judgment["evaluator"] for judgment in view["judgments"]]
        return {"state": view["state"], "step": step, "failures": failures, "judges": judges}

    refused = StageFailure(Stage.GRADER, Reason.LLM_REFUSED, "It declined.", evaluator="strict")
    await world.happens(*story.told(), BattleFailed("strict failed", "tides", story.battle.arena, refused))
    expected = {"state": "scored", "step": "done", "failures": ["strict"], "judges": ["pairwise"]}
    assert await seen() == expected

    await world.happens(of_strict(story.judged()))
    assert await seen() == expected | {"failures": [], "judges": ["pairwise", "strict"]}
    page = (await world.http.get("/battles/tides")).text
    assert "strict: A shown first: A is better" in page
    assert "<h2>Judges</h2>" in page


async def test_the_page_of_boards_leads_to_the_board_of_each_judge(world: World) -> None:
    story = Story(battle())
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*story.told(), of_strict(story.judged()))
    arena = story.battle.arena
    rule = "A battle counts once, with the verdict of more than half of its judges"
    page = (await world.http.get(f"/leaderboard?arena={arena}")).text
    assert page.count(rule) == 1
    assert f'href="/leaderboard?arena={arena}&amp;evaluator=strict"' in page
    page = (await world.http.get(f"/leaderboard?arena={arena}&evaluator=strict")).text
    assert "<strong>strict</strong>" in page
    assert rule not in page
    assert '<input type="hidden" name="evaluator" value="strict">' in page
