"""What the front door tells about battles, boards and failures."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import Stage
from services.gateway.ratings.client import RatingsClient
from services.runtime import rpc
from services.runtime.errors import Unavailable
from tests.integration.gateway.world import GONE, Story, World, battle, between, submission


async def told(world: World, *changes: Any) -> dict[str, Any]:
    await world.happens(*Story(battle()).told(), *changes)
    return dict((await world.http.get("/v1/battles/tides")).json())


async def test_a_battle_shows_who_states_what_and_whose_fault_a_miss_is(world: World) -> None:
    shown = await told(world, Story(battle()).voted())
    assert [nugget["importance"] for nugget in shown["nuggets"]] == ["vital", "vital", "vital", "okay"]
    labels = {n["id"]: (n["a"]["support"], n["b"]["support"]) for n in shown["nuggets"]}
    assert labels["n1"] == ("support", "partial_support")
    causes = {n["id"]: (n["a"]["cause"], n["b"]["cause"]) for n in shown["nuggets"]}
    assert causes == {
        "n1": (None, None),
        "n2": (None, "retrieval"),
        "n3": ("generation", "retrieval"),
        "n4": (None, None),  # only an answer states it, but one of the sources could not be read
    }
    assert shown["nuggets"][0]["a"]["quote"] == "Two bulges rise, and the Earth turns beneath both."
    verdict = shown["nugget_verdict"]
    assert verdict["a"]["all_score"] == 0.5
    assert verdict["b"]["all_score"] == 0.375
    assert (verdict["margin"], verdict["tie_threshold"], verdict["preference"]) == (0.125, 0.07, "a")
    assert shown["judgments"][0]["flipped"] is False
    assert shown["human_vote"] == "a"
    assert "The nuggets prefer A" in shown["explanation"][0]


async def test_a_battle_shows_what_became_of_its_sources(world: World) -> None:
    shown = await told(world)
    tides, gone = shown["a"]["sources"]
    assert (tides["state"], tides["chunks"]) == ("fetched", 1)
    assert (gone["url"], gone["state"], gone["quality"]) == (GONE, "rejected", "not_found")


async def test_every_address_of_a_page_counts_its_chunks(world: World) -> None:
    """Both sides cite one page, B by an address that redirects to it; the evidence names A's."""
    story = Story(battle())
    tides, gone, moved = story.pages
    moved = replace(moved, final_url=tides.final_url, content_hash=tides.content_hash)
    found = story.retrieved()
    evidence = replace(found.evidence[0], cited_by=(Side.A, Side.B))
    pages = (tides, gone, moved)
    await world.happens(story.submitted(), replace(found, pages=pages, evidence=(evidence,)))
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert [source["chunks"] for source in shown["a"]["sources"]] == [1, 0]
    assert [source["chunks"] for source in shown["b"]["sources"]] == [1]


async def test_before_anything_happened_nothing_is_zero(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert shown["nugget_verdict"] is None
    assert shown["human_vote"] is None
    assert {source["state"] for source in shown["a"]["sources"]} == {"pending"}
    assert {step["state"] for step in shown["steps"]} == {"pending"}


async def test_a_battle_shows_when_each_step_was_recorded_and_how_long_it_took(world: World) -> None:
    shown = await told(world, Story(battle()).voted())
    recorded = await world.gateway.battles.events_of("tides")
    at = {event.name: event.recorded_at for event in recorded}
    steps = {step["name"]: step for step in shown["steps"]}
    for name, before, event in (
        ("indexer", "scraped", "indexed"),
        ("assigner", "nuggetized", "assigned"),
        ("judge", "retrieved", "judged"),  # beside the nuggets, not after them
    ):
        assert datetime.fromisoformat(steps[name]["recorded_at"]) == at[event]
        assert steps[name]["seconds"] == pytest.approx((at[event] - at[before]).total_seconds())


async def test_a_step_recorded_before_its_predecessor_has_no_duration(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted(), story.indexed(), story.scraped(), story.judged())
    steps = {step["name"]: step for step in (await world.http.get("/v1/battles/tides")).json()["steps"]}
    assert steps["indexer"]["seconds"] is None
    assert steps["judge"]["seconds"] is None  # nothing was retrieved
    assert steps["indexer"]["recorded_at"] < steps["scraper"]["recorded_at"] < steps["judge"]["recorded_at"]
    assert (steps["retriever"]["recorded_at"], steps["retriever"]["seconds"]) == (None, None)


async def test_a_battle_whose_nuggets_failed_still_shows_its_verdict(world: World) -> None:
    story = Story(battle())
    told = [e for e in story.told() if type(e).__name__ not in ("BattleNuggetized", "BattleAssigned")]
    await world.happens(*told, story.failed(Stage.NUGGETIZER))
    shown = (await world.http.get("/v1/battles/tides")).json()
    assert shown["state"] == "partial"
    assert shown["nugget_verdict"] is None
    assert shown["explanation"] == [
        "There are no nugget scores: Extract failed, because the model was away: The model did not answer.",
        "The judge (pairwise): A is better, in both orders.",
    ]
    (failure,) = (await world.http.get("/v1/failures?battle=tides")).json()
    assert (failure["stage"], failure["reason"], failure["attempts"]) == ("nuggetizer", "llm_unavailable", 3)
    assert (await world.http.get("/v1/failures?battle=other")).json() == []


async def test_a_list_of_battles_says_who_prefers_what(world: World) -> None:
    await told(world, Story(battle()).voted(Vote.B))
    await world.http.post("/v1/battles", json=submission(id="elsewhere", arena="other"))
    both = (await world.http.get("/v1/battles")).json()
    assert [row["id"] for row in both] == ["elsewhere", "tides"]
    (row,) = (await world.http.get("/v1/battles?arena=demo&limit=1")).json()
    assert row["preferences"] == {
        "human": "b", "nugget": "a", "judge": "a", "grounded": None, "leading": "nugget",
    }  # fmt: skip


async def test_a_vote_is_published_and_unknown_battles_and_votes_are_refused(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    assert (await world.http.post("/v1/battles/tides/vote", json={"vote": "b"})).status_code == 202
    assert [type(event).__name__ for event in await world.published()] == ["BattleSubmitted", "BattleVoted"]
    assert (await world.http.post("/v1/battles/nobody/vote", json={"vote": "b"})).status_code == 404
    worded = await world.http.post("/v1/battles/tides/vote", json={"vote": "tie (bothbad)"})
    assert (worded.status_code, worded.json()["vote"]) == (202, "both_bad")
    refused = await world.http.post("/v1/battles/tides/vote", json={"vote": "maybe"})
    assert refused.status_code == 422
    assert refused.json()["problems"][0].startswith("vote: ")


async def test_a_change_of_mind_back_and_forth_is_three_votes(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for vote in ("a", "b", "a"):
        await world.http.post("/v1/battles/tides/vote", json={"vote": vote})
    assert [event.vote for event in (await world.published())[1:]] == ["a", "b", "a"]  # type: ignore[union-attr]


async def test_an_id_may_contain_anything(world: World) -> None:
    odd = "tag:1/2?x#ü %"
    response = await world.http.post("/v1/battles", json=submission(id=odd))
    shown = await world.http.get(response.headers["location"])
    assert shown.json()["id"] == odd
    assert (
        await world.http.post(response.headers["location"] + "/vote", json={"vote": "a"})
    ).status_code == 202
    page = await world.http.get("/")
    assert "/battles/tag%3A1/2%3Fx%23%C3%BC%20%25" in page.text


async def test_what_is_not_there_is_not_found(world: World) -> None:
    for path in ("/v1/battles/nobody", "/v1/battles/nobody/events", "/v1/nothing"):
        response = await world.http.get(path)
        assert response.status_code == 404, path
        assert response.json()["error"]


async def test_the_leaderboard_comes_from_the_rater(world: World) -> None:
    for number in range(4):
        for one, other in (("x", "y"), ("y", "z"), ("z", "x")):
            story = Story(between(one, other, number))
            await world.happens(story.submitted(), story.voted(Vote.A if number else Vote.B))
    human, nugget, _ = (await world.http.get("/v1/leaderboard?arena=demo&provisional_below=0")).json()
    assert (human["lens"], human["scored"], human["received"]) == ("human", 12, 12)
    assert {standing["rank"] for standing in human["standings"]} == {1}
    assert (nugget["scored"], nugget["standings"]) == (0, [])
    (only,) = (await world.http.get("/v1/leaderboard?arena=demo&lens=judge")).json()
    assert only["lens"] == "judge"
    assert (await world.http.get("/v1/leaderboard?arena=demo&lens=gut")).status_code == 422


async def test_a_leaderboard_without_a_rater_is_unavailable() -> None:
    async with rpc.channel("127.0.0.1:1") as nowhere:
        with pytest.raises(Unavailable):
            await RatingsClient(nowhere, deadline=0.3).get("demo", [Lens.HUMAN])


async def test_the_contract_describes_submissions_and_every_reference_resolves(world: World) -> None:
    document = (await world.http.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    assert {"BattleSubmission", "AnswerSubmission", "BattleView", "Problem"} <= set(schemas)
    assert "application/x-ndjson" in document["paths"]["/v1/battles"]["post"]["requestBody"]["content"]
    assert references(document) <= {f"#/components/schemas/{name}" for name in schemas}


def references(node: Any) -> set[str]:
    """Every $ref below a node."""
    if isinstance(node, list):
        return set().union(*map(references, node)) if node else set()
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*map(references, node.values()))
