"""Ratings over HTTP: as asked, on any slice, and honest where the battles allow no number."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import grpc
import pytest
from arena.v1 import arena_pb2, battle_pb2
from arena.v1.arena_pb2_grpc import ArenaStub

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.lens import Lens
from services.runtime import rpc
from services.store.outcomes.outcome import Outcome
from services.wire.convert import to_message
from tests.integration.gateway.world import NOW, Story, World, battle, between, submission
from tests.stored import WrittenOutcomes

CIRCLE = [("x", "y"), ("y", "z"), ("z", "x"), ("x", "y")]


async def fight(
    world: World,
    *pairs: tuple[str, str],
    vote: Vote | None = Vote.A,
    judge: Vote | None = None,
    language: str = "en",
    tags: Sequence[str] = (),
    first: int = 0,
) -> None:
    """Battles with a human vote, a judge's verdict, or both."""
    for number, pair in enumerate(pairs, start=first):
        fought: Battle = replace(between(*pair, number), language=language, tags=tuple(tags))
        story = Story(fought)
        await world.gateway.battles.accept(fought, b"", NOW)
        if vote is not None:
            await world.recorder(story.voted(vote))
        if judge is not None:
            await world.recorder(story.judged(judge))


async def get(world: World, path: str, **params: Any) -> Any:
    """The JSON of an answer that is fine, read as strictly as a browser does."""
    response = await world.http.get(f"/v1/{path}", params={"arena": "demo"} | params)
    assert response.status_code == 200, response.text

    def refuse(name: str) -> Any:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(response.text, parse_constant=refuse)


async def human(world: World, **params: Any) -> Any:
    (board,) = await get(world, "leaderboard", lens="human", **params)
    return board


async def problems(world: World, path: str, **params: Any) -> list[str]:
    response = await world.http.get(f"/v1/{path}", params={"arena": "demo"} | params)
    assert response.status_code == 422, response.text
    assert response.json()["error"] == "the request is not valid"
    return list(response.json()["problems"])


async def test_a_board_says_what_it_was_made_with(world: World) -> None:
    await fight(world, *CIRCLE)
    board = await human(
        world, ties="drop", bootstrap="multinomial", level=0.5, resamples=200, anchor="z:1114"
    )
    made = board["method"]
    assert 0 < made.pop("unranked_resamples") < 200
    assert made == {
        "tie_policy": "drop",
        "tie_parameter": None,
        "bootstrap": "multinomial",
        "intervals": "bootstrap",
        "level": 0.5,
        "resamples": 200,
        "anchor": {"system": "z", "rating": 1114.0},
        "slice": {
            "language": None,
            "tags": [],
            "since": None,
            "until": None,
            "evaluator": None,
            "expected": False,
            "flagged": "include",
        },
        "prior": None,
        "provisional_below": 10,
    }
    assert (board["tie_policy"], board["level"], board["resamples"]) == ("drop", 0.5, 200)
    (z,) = (standing for standing in board["standings"] if standing["system"] == "z")
    assert (z["rating"], z["interval_state"]) == (1114, "fixed")


async def test_lenses_may_be_named_more_than_once(world: World) -> None:
    boards = await get(world, "leaderboard", lens=["judge", "human", "judge"])
    assert [board["lens"] for board in boards] == ["judge", "human"]


async def test_an_end_that_is_infinite_is_null_and_said_to_be(world: World) -> None:
    await fight(world, ("x", "y"), ("y", "x"), ("x", "y"))
    board = await human(world, bootstrap="multinomial")
    for standing in board["standings"]:
        assert (standing["low"], standing["high"], standing["interval_state"]) == (None, None, "unbounded")
        assert standing["rating"] is not None
    assert "could not be ranked" in board["note"]
    (pair,) = (await get(world, "leaderboard/pairs", bootstrap="multinomial"))["pairs"]
    assert (pair["gap_low"], pair["interval_state"]) == (None, "unbounded")


async def test_a_slice_is_a_board_of_its_own(world: World) -> None:
    await fight(world, *CIRCLE, language="en", tags=["category:science", "long"])
    await fight(world, ("x", "y"), ("y", "x"), language="de", tags=["category:art"], first=10)
    english = await human(world, language="en")
    assert (english["scored"], english["received"], len(english["standings"])) == (4, 4, 3)
    art = await human(world, tag="category:art")
    assert (art["scored"], {s["system"] for s in art["standings"]}) == (2, {"x", "y"})
    assert art["method"]["slice"]["tags"] == ["category:art"]
    both = await human(world, tag=["category:science", "long"])
    assert both["scored"] == 4
    assert (await human(world, tag=["category:science", "category:art"]))["state"] == "empty"
    received = NOW.date().isoformat()
    assert (await human(world, since=received))["scored"] == 6
    before = await human(world, until=received)
    assert (before["scored"], before["received"]) == (0, 0)
    assert before["method"]["slice"]["until"] == f"{received}T00:00:00Z"


@pytest.mark.parametrize(
    ("path", "params", "problem"),
    [
        ("leaderboard", {"ties": "third"}, "ties: Input should be 'half'"),
        ("leaderboard", {"bootstrap": "x"}, "bootstrap: Input should be 'bayesian' or 'multinomial'"),
        ("leaderboard", {"intervals": "x"}, "intervals: Input should be 'bootstrap' or 'sandwich'"),
        (
            "leaderboard",
            {"lens": ["human", "gut"]},
            "lens.1: Input should be 'human', 'nugget', 'judge', 'guided', 'member'",
        ),
        ("leaderboard", {"level": "1"}, "level: Input should be less than or equal to 0.999"),
        ("leaderboard", {"level": "nan"}, "level: "),
        ("leaderboard", {"resamples": "99"}, "resamples: Input should be greater than or equal to 100"),
        ("leaderboard", {"resamples": "1e9"}, "resamples: "),
        ("leaderboard", {"anchor": "x"}, "anchor: should be a system and its rating"),
        ("leaderboard", {"anchor": ":1000"}, "anchor: should be a system and its rating"),
        ("leaderboard", {"anchor": "x:inf"}, "anchor: should be a system and its rating"),
        ("leaderboard", {"since": "yesterday"}, "since: "),
        ("leaderboard", {"since": "2025-05-04T12:00:00"}, "since: Input should have timezone info"),
        ("leaderboard", {"until": "0001-01-01"}, "until: is out of range"),
        ("leaderboard", {"since": "2025-05-04", "until": "2025-05-04"}, "until: is not after since"),
        ("leaderboard", {"tag": ["x"] * 11}, "tag: List should have at most 10 items"),
        ("leaderboard", {"tag": "\x00"}, "tag.0: contains a NUL character"),
        ("leaderboard", {"arena": ""}, "arena: String should have at least 1 character"),
        ("leaderboard", {"arena": "\x00"}, "arena: contains a NUL character"),
        ("leaderboard", {"tie": "half"}, "tie: is not a parameter of this request"),
        ("leaderboard", {"ties": "davidson", "intervals": "sandwich"}, "intervals: sandwich is for ties"),
        (
            "leaderboard",
            {"bootstrap": "multinomial", "intervals": "sandwich"},
            "bootstrap: sandwich intervals",
        ),
        ("leaderboard/pairs", {"resamples": "500", "intervals": "sandwich"}, "resamples: sandwich intervals"),
        ("leaderboard", {"anchor": "ghost:1000"}, "anchor: on the human board 'ghost' has no battle here"),
        ("leaderboard", {"anchor": "best:1"}, "anchor: on the human board 'best' is not ranked: never lost"),
        ("leaderboard/combined", {"automatic": "human"}, "automatic: Input should be 'nugget' or 'judge'"),
        ("leaderboard/combined", {"ties": "drop"}, "ties: is not a parameter of this request"),
        ("leaderboard/pairs", {"anchor": "x:1000"}, "anchor: is not a parameter of this request"),
        (
            "leaderboard/advice",
            {"ties": "davidson"},
            "ties: Input should be 'half', 'drop' or 'drop_both_bad'",
        ),
        ("leaderboard/advice", {"power": "1"}, "power: Input should be less than or equal to 0.99"),
        ("leaderboard/advice", {"count": "0"}, "count: Input should be greater than or equal to 1"),
        ("agreement", {"ties": "none"}, "ties: Input should be 'half'"),
    ],
)
async def test_a_wrong_value_is_refused_and_its_field_named(
    world: World, path: str, params: dict[str, Any], problem: str
) -> None:
    await fight(world, *CIRCLE, ("best", "x"))
    (found,) = await problems(world, path, **params)
    assert found.startswith(problem)


async def test_an_arena_nobody_heard_of_is_empty_everywhere(world: World) -> None:
    boards = await get(world, "leaderboard", arena="nowhere")
    assert [(b["state"], b["standings"], b["received"]) for b in boards] == [("empty", [], 0)] * 3
    pairs = await get(world, "leaderboard/pairs", arena="nowhere")
    assert (pairs["state"], pairs["systems"], pairs["pairs"]) == ("empty", [], [])
    advice = await get(world, "leaderboard/advice", arena="nowhere")
    assert (advice["state"], advice["neighbours"], advice["next"]) == ("empty", [], [])
    combined = await get(world, "leaderboard/combined", arena="nowhere")
    assert (combined["state"], combined["standings"], combined["tuning"]) == ("empty", [], None)
    agreement = await get(world, "agreement", arena="nowhere")
    assert [(pair["battles"], pair["kappa"], pair["tau_b"]) for pair in agreement["pairs"]] == [
        (0, None, None)
    ] * 3
    assert all(pair["kappa_note"] and pair["order_note"] for pair in agreement["pairs"])


async def test_where_everybody_ties_nobody_is_said_to_be_first(world: World) -> None:
    await fight(world, *CIRCLE, vote=Vote.TIE)
    board = await human(world)
    assert board["state"] == "all_tied"
    for standing in board["standings"]:
        assert standing["rating"] == pytest.approx(1000)
        assert (standing["low"], standing["high"], standing["interval_state"]) == (None, None, "degenerate")
        assert (standing["rank"], standing["probability_first"]) == (None, None)
    assert (await human(world, ties="drop"))["state"] == "nobody_ranked"
    modelled = await human(world, ties="rao_kupper")
    assert (modelled["state"], modelled["method"]["tie_parameter"]) == ("nobody_ranked", None)


async def test_two_islands_are_said_to_be_two(world: World) -> None:
    await fight(world, *CIRCLE, ("p", "q"))
    await fight(world, ("q", "p"), first=9)
    board = await human(world)
    assert board["state"] == "ranked"
    assert "2 groups that never met" in board["note"]
    out = {s["system"]: s["unrankable"] for s in board["standings"] if s["rating"] is None}
    assert set(out) == {"p", "q"}
    assert all("not in the largest group" in reason for reason in out.values())


async def test_a_system_alone_with_itself_has_no_board(world: World) -> None:
    await world.gateway.battles.accept(between("x", "y", 0), b"", NOW)
    alone = Outcome("x-y-0", "human", Lens.HUMAN, "demo", "x", "x", Vote.A, None, NOW)
    await WrittenOutcomes(world.database).put(alone)
    board = await human(world)
    assert (board["state"], board["standings"], board["scored"], board["received"]) == ("empty", [], 0, 1)


async def test_a_battle_of_one_system_or_of_none_is_refused_by_its_field(world: World) -> None:
    """So that a board never has to make sense of one."""
    for system, problem in (
        ("birch", "system 'birch' battles itself"),
        ("", "a.system: is empty"),
        (" \t", "a.system: is empty"),
    ):
        body = submission(a=submission()["a"] | {"system": system})
        response = await world.http.post("/v1/battles", json=body)
        assert (response.status_code, response.json()["problems"]) == (422, [problem])
        wire = to_message(battle(), battle_pb2.Battle)
        wire.a.system = system
        async with rpc.channel(world.grpc_target) as channel:
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await ArenaStub(channel).SubmitBattle(arena_pb2.SubmitBattleRequest(battle=wire))
        assert (raised.value.code(), raised.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, problem)
    assert (await world.http.get("/v1/battles")).json() == []
    unknown = await world.http.post("/v1/battles/nobody/vote", json={"vote": "a"})
    assert (unknown.status_code, unknown.json()["error"]) == (404, "there is no battle 'nobody'")


async def test_pairs_are_a_win_matrix_with_differences(world: World) -> None:
    await fight(world, *[("x", "y")] * 6)
    await fight(world, *[("y", "x")] * 2, first=6)
    found = await get(world, "leaderboard/pairs", intervals="sandwich")
    assert (found["systems"], found["scored"], found["received"]) == (["x", "y"], 8, 8)
    (pair,) = found["pairs"]
    assert (pair["a"], pair["battles"], pair["wins_a"], pair["wins_b"], pair["share"]) == ("x", 8, 6, 2, 0.75)
    assert pair["gap"] == pytest.approx(400 * math.log10(3))
    assert pair["above"] + pair["below"] == pytest.approx(1)


async def test_advice_says_how_many_battles_are_missing(world: World) -> None:
    await fight(world, *[("x", "y")] * 6)
    await fight(world, *[("y", "x")] * 2, first=6)
    await fight(world, ("best", "x"), first=20)
    found = await get(world, "leaderboard/advice")
    assert [(n["above"], n["below"], n["needed"]) for n in found["neighbours"]] == [("x", "y", 28)]
    assert [(n["a"], n["b"], n["battles"]) for n in found["next"]] == [("x", "y", 8)]
    assert [unranked["system"] for unranked in found["unranked"]] == ["best"]
    assert (found["power"], found["method"]["intervals"]) == (0.8, "sandwich")


async def test_people_and_judge_in_one_rating_beside_each_alone(world: World) -> None:
    for turn, (people, machine) in enumerate(((Vote.A, Vote.A), (Vote.B, Vote.B), (None, Vote.A))):
        await fight(world, *[("x", "y")] * (4 - turn), vote=people, judge=machine, first=10 * turn)
    await fight(world, ("x", "y"), vote=None, judge=Vote.B, first=40)
    await fight(world, ("x", "y"), vote=Vote.A, first=50)
    found = await get(world, "leaderboard/combined", automatic="judge")
    assert (found["state"], found["automatic_lens"], found["received"]) == ("rated", "judge", 11)
    estimates = [found[kind] for kind in ("human", "automatic", "combined")]
    assert [(e["battles"], e["state"]) for e in estimates] == [(7, "rated"), (10, "rated"), (10, "rated")]
    assert 0 < found["tuning"] <= 1
    assert found["human_votes_unused"] == 1  # no judge saw that battle
    for standing in found["standings"]:
        for kind in ("human", "automatic", "combined"):
            assert standing[kind]["low"] < standing[kind]["rating"] < standing[kind]["high"]
    assert (await get(world, "leaderboard/combined"))["state"] == "empty"  # no nuggets here


async def test_agreement_is_counted_over_battles_decided_by_both(world: World) -> None:
    await fight(world, *CIRCLE, judge=Vote.A)
    await fight(world, ("z", "x"), judge=Vote.B, first=20)
    await fight(world, ("x", "y"), first=30)
    found = await get(world, "agreement")
    both = next(pair for pair in found["pairs"] if (pair["first"], pair["second"]) == ("human", "judge"))
    assert (both["battles"], both["agreed"], both["inverted"]) == (5, 4, 1)
    assert both["kappa"] == 0  # people always say A: chance agrees as often
    assert (both["systems"], both["kappa_note"]) == (3, None)
    # People rank z, x, y; the judge x, then y and z level: one pair agrees, one does not, one is a tie.
    assert (both["tau_b"], both["order_note"]) == (pytest.approx(0), None)
    assert (found["received"], found["tie_policy"]) == (6, "half")


async def test_the_contract_describes_what_may_be_asked(world: World) -> None:
    document = (await world.http.get("/openapi.json")).json()
    asked = {p["name"]: p["schema"] for p in document["paths"]["/v1/leaderboard"]["get"]["parameters"]}
    assert {"arena", "lens", "ties", "bootstrap", "intervals", "level", "resamples", "anchor"} <= set(asked)
    assert {"language", "tag", "since", "until"} <= set(asked)
    for path in ("combined", "pairs", "advice"):
        assert f"/v1/leaderboard/{path}" in document["paths"]
