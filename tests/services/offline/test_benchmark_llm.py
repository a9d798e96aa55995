"""The arithmetic of `make bench-llm`: money, agreement with people, noise floor, tokens of schemas."""

import json
from decimal import Decimal

import httpx2
import pytest

from benchmarks.llm import agreement, compared, same, stages_of
from benchmarks.llm_variants import PRICE, Result
from nuggetstream.domain.battle import Vote
from services.offline.app import create_app
from services.runtime.llm.prices import Price, Tokens, estimate_tokens

PEOPLE = {"b1": ("tides", "a"), "b2": ("tides", "b"), "b3": ("bees", "a"), "b4": ("bees", "a")}
OURS = {"b1": Vote.A, "b2": Vote.B, "b3": Vote.TIE, "b4": Vote.A}
THEIRS = {"b1": Vote.A, "b2": Vote.A, "b3": Vote.B}


def result(preferred: dict[str, Vote], *tokens: Tokens, seconds: float = 2.0, price: Price = PRICE) -> Result:
    calls = [("nuggetizer", each) for each in tokens or (Tokens(1000, 100, 400),)]
    return Result(calls, [seconds] * len(preferred), preferred, price)


def test_money_is_that_of_a_thousand_battles_with_cached_input_at_its_own_price() -> None:
    price = Price(input=Decimal(2), cached_input=Decimal(1), output=Decimal(8))
    twice = result(THEIRS, Tokens(1000, 100, 400), Tokens(500, 50), price=price)
    # (600 + 500) · 2 + 400 · 1 + 150 · 8 millionths for three battles
    assert twice.money == pytest.approx((2200 + 400 + 1200) / 1e6 / 3 * 1000)
    assert stages_of(twice) == "nuggetizer 500 in, 133 cached, 50 out"


def test_a_tie_agrees_with_people_by_half_and_battles_of_one_topic_are_drawn_together() -> None:
    mean, low, high = agreement(result(OURS), PEOPLE)
    assert mean == pytest.approx((1 + 1 + 0.5 + 1) / 4)
    assert (low, high) == (0.75, 1.0)  # either topic alone: bees and tides


def test_two_rows_are_compared_on_the_battles_that_both_have() -> None:
    mean, low, high = agreement(result(OURS), PEOPLE, result(THEIRS))
    assert mean == pytest.approx((0 + 1 + 0.5) / 3)
    assert (low, high) == (0.5, 0.5)
    assert same(result(OURS), result(THEIRS)) == (1, 3)


def test_rows_on_equal_evidence_and_the_noise_floor_stand_beside_their_peers() -> None:
    rows = {
        "live": result(OURS, Tokens(1000, 0), seconds=1.0),
        "live, another order": result(OURS | {"b4": Vote.B}, Tokens(1000, 0), seconds=1.0),
        "live, all evidence": result(OURS, Tokens(4000, 0), seconds=4.0),
    }
    beside, floor = compared(rows, PEOPLE)
    assert beside.startswith(
        "live beside live, all evidence (excerpts beside all evidence): 0.25 of the money, 4.0 times as "
        "fast, agreement +0.000 [+0.000, +0.000], same preference in 1.00 ["
    )
    assert "noise floor: the same evidence in another order): 1.00 of the money" in floor
    assert "agreement -0.250 [-0.500, +0.000], same preference in 0.75 [0.30, 0.95]" in floor


async def test_the_schema_of_a_reply_counts_as_tokens_of_the_prompt() -> None:
    app = create_app(None, reply_to=lambda _: "yes")
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": {"type": "object"}}}
    asked = {"model": "offline-heuristic", "messages": [{"role": "user", "content": "Which?"}]}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://model") as http:
        plain, formed = [
            (await http.post("/v1/chat/completions", json=asked | more)).json()["usage"]["prompt_tokens"]
            for more in ({}, {"response_format": schema})
        ]
    assert formed - plain == estimate_tokens(json.dumps(schema))
