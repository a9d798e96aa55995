"""The benchmark of a live platform runs once with few battles; what it computes from times is tested here."""

import asyncio
import json
import math
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from benchmarks import live
from benchmarks.cpu import offline_model
from benchmarks.live import GOALS, Numbers, Scale, Times, measure, missed_goals, rated
from benchmarks.live_load import beyond_rest, growth
from benchmarks.live_stages import STEPS
from benchmarks.scaling import STORED
from services.cli.wiring.registry import SERVICES
from tests.forked import forked

GOOD = Numbers(
    battles=1_500,
    rate=5.0,
    lost=[],
    seconds=dict.fromkeys(GOALS, (0.5, 1.0, 9.0)),
    steps={},
    memory_mb=(2_000.0, 2_050.0),
    followers=500,
    turned_away=0,
    spread=0.5,
    at_rest={},
    load={},
)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.broker
def test_battles_are_shown_and_rated_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "executed", forked)  # which takes less time, and more memory
    with offline_model() as model:
        numbers = asyncio.run(measure(Scale(seconds=4, followers=5), 1.0, "sqlite", model))
    assert (numbers.battles, numbers.followers, numbers.lost) == (4, 5, [])
    for name in GOALS:
        low, middle, high = numbers.seconds[name]
        assert 0 < low <= middle <= high
    assert numbers.seconds["first nuggets"][2] <= numbers.seconds["explanation"][2]
    assert min(numbers.memory_mb) > 0
    assert numbers.load.keys() == numbers.at_rest.keys() == {
        *(f"cpu {name}" for name in (*SERVICES, "broker")), "messages", "message bytes",
    }  # fmt: skip
    assert 0.001 < numbers.load["cpu recorder"] < 5
    assert numbers.load["messages"] > STORED
    [measured] = {len(numbers.steps[name]) for name in STEPS}
    assert 1 <= measured <= 4  # the log of the last calls is written a little later
    of_steps = sum(map(sum, numbers.steps.values()))
    assert 0 < of_steps < 4 * numbers.seconds["first nuggets"][2]  # no step counts twice


def test_what_readings_of_the_board_cost_is_taken_off_what_battles_cost() -> None:
    rest = growth({"cpu gateway": 1.0, "rows": 5.0}, {"cpu gateway": 1.2, "rows": 5.0}, 10)
    assert rest == {"cpu gateway": pytest.approx(0.02), "rows": 0.0}
    cost = growth({"cpu gateway": 1.2, "rows": 5.0}, {"cpu gateway": 2.2, "rows": 45.0}, 4)
    assert beyond_rest(cost, rest, 5.0) == {"cpu gateway": pytest.approx(0.15), "rows": 10.0}
    assert beyond_rest(cost, rest, 50.0)["cpu gateway"] == 0.0


def test_a_battle_is_rated_when_the_board_counts_as_many_as_ended_until_then() -> None:
    times = Times(sent={0: 10.0, 1: 11.0}, ended={0: 14.0, 1: 13.0})
    # The board counts one battle before it is asked after the first end, and the second one later.
    assert rated(times, [(12.5, 0), (12.9, 1), (15.0, 2)]) == [13.0 - 11.0, 15.0 - 10.0]
    assert times.lost == []


async def test_a_board_that_is_refused_for_a_while_is_read_again() -> None:
    replies = [200, 503, 503, 200]

    def board(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(replies.pop(0) if replies else 200, json=[{"scored": 3}])

    seen, done = list[tuple[float, int]](), asyncio.Event()
    async with httpx2.AsyncClient(base_url="http://x", transport=httpx2.MockTransport(board)) as http:
        watching = asyncio.create_task(live.watch(http, seen, done))
        async with asyncio.timeout(60):
            while not seen:
                await asyncio.sleep(0.01)
        done.set()
        await watching
    assert replies == []
    assert {count for _, count in seen} == {0}


async def test_battles_that_never_end_are_lost_and_the_others_are_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def one_battle(_: Any, number: int, body: str, times: Times) -> None:
        times.sent[number] = 1.0
        if body == "endless":
            await asyncio.Event().wait()
        times.ended[number] = 3.0
        times.shown["explanation"].append(2.0)

    async def counted(_: Any) -> int:
        return 0

    monkeypatch.setattr(live, "_LATE", 0.3)
    monkeypatch.setattr(live, "one_battle", one_battle)
    monkeypatch.setattr(live, "counted", counted)
    monkeypatch.setattr(live, "memory_mb", lambda _: 1.0)
    nobody: Any = None
    times, _, _ = await live.steady(nobody, nobody, ["endless", "short"], 100.0)
    assert times.lost == [
        "battle 0 had not ended 0 s after the last one was sent",
        "the board never counted 1 battles",
    ]
    assert live._percentiles(times.shown["explanation"]) == (2.0, 2.0, 2.0)
    missing = live._percentiles(times.shown["rating"])
    assert all(map(math.isnan, missing))
    unrated = replace(GOOD, seconds=GOOD.seconds | {"rating": missing})
    [missed] = missed_goals(unrated)
    assert missed.startswith("rating: nan s")
    written = json.loads(live.as_json(unrated), parse_constant=pytest.fail)
    assert written["seconds"] == json.loads(json.dumps(GOOD.seconds)) | {"rating": [None, None, None]}


def test_a_battle_that_no_board_counts_is_lost() -> None:
    times = Times(sent={0: 10.0, 1: 11.0}, ended={0: 14.0, 1: 13.0})
    assert rated(times, [(15.0, 1)]) == [4.0]
    assert times.lost == ["the board never counted 2 battles"]


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (replace(GOOD, lost=["battle 3 ended as failed"]), "LOST: battle 3 ended as failed"),
        (
            replace(GOOD, seconds=GOOD.seconds | {"explanation": (1.0, 3.1, 3.2)}),
            "explanation: 3.10 s at the 95th percentile, the goal is 3.0 s",
        ),
        (replace(GOOD, followers=490, turned_away=10), "10 clients could not follow a battle to its end"),
        (replace(GOOD, memory_mb=(1_000.0, 1_150.0)), "memory grew to 1.15 times; the goal is 1.1"),
    ],
)
def test_each_missed_goal_is_one_sentence(bad: Numbers, said: str) -> None:
    assert missed_goals(GOOD) == []
    assert missed_goals(bad) == [said]
