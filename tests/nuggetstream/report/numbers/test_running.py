"""Time and money, where the results record them."""

from typing import Any

import pytest

from nuggetstream.report.numbers.running import compute_running
from tests.evaluated import battle


def step(name: str, seconds: float | None, ended: bool = True) -> dict[str, Any]:
    at = "2026-05-04T12:00:01Z" if ended else None
    return {"name": name, "state": "done" if ended else "failed", "recorded_at": at, "seconds": seconds}


def test_an_unknown_cost_is_not_zero_and_currencies_do_not_mix(read: Any) -> None:
    dollars, euros = {"amount": 0.5, "currency": "USD"}, {"amount": 1.0, "currency": "EUR"}
    found = compute_running(read(battle("b1", cost=dollars), battle("b2", cost=euros), battle("b3")))
    assert [(cost.currency, cost.battles, cost.total) for cost in found.costs] == [
        ("USD", 1, 0.5), ("EUR", 1, 1.0),
    ]  # fmt: skip
    assert compute_running(read(battle("b1"))).costs == ()


def test_a_battle_that_ends_before_it_arrives_is_left_out(read: Any) -> None:
    found = compute_running(
        read(battle("b1"), battle("b2", ended_at="2026-05-04T11:00:00Z"), battle("b3", ended_at=None))
    )
    assert found.out_of_order == 1
    assert found.latency is not None
    assert found.latency.seconds == (2.0,)


def test_stages_are_timed_where_their_steps_are_recorded(read: Any) -> None:
    rows = [battle(f"b{i}", steps=[step("scraper", float(i)), step("judge", None)]) for i in (1, 2, 3)]
    rows.append(battle("lost", steps=[step("scraper", None, ended=False)]))
    found = compute_running(read(*rows, battle("old")))
    scraper, judge = found.stages
    assert (scraper.stage, scraper.ended, scraper.timed) == ("scraper", 3, 3)
    assert (scraper.median, scraper.late) == (2.0, pytest.approx(2.9))
    assert (judge.ended, judge.timed, judge.median, judge.late) == (3, 0, None, None)
    assert compute_running(read(battle("old"))).stages == ()


def test_money_is_summed_per_stage_model_and_currency(read: Any) -> None:
    def spent(amount: str | None, stage: str = "judge") -> dict[str, Any]:
        cost = None if amount is None else {"amount": amount, "currency": "USD"}
        tokens = {"calls": 2, "input_tokens": 10, "output_tokens": 1}
        return {"stage": stage, "model": "m", "cost": cost} | tokens

    rows = [battle("b1", spend=[spent("0.25"), spent("1", "assigner")]), battle("b2", spend=[spent("0.5")])]
    found = compute_running(read(*rows, battle("b3", spend=[spent(None)]))).models
    assert [(each.stage, each.currency, each.amount, each.battles, each.calls) for each in found] == [
        ("assigner", "USD", 1.0, 1, 2),
        ("judge", None, None, 1, 2),
        ("judge", "USD", 0.75, 2, 4),
    ]
