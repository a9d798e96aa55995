"""Scorers against each other: kappa, limits of agreement and order effects, worked out by hand."""

from typing import Any

import pytest

from nuggetstream.report.numbers.scorers import compute_scorers
from tests.evaluated import battle, judgment, round_robin


def test_limits_of_agreement_by_hand(read: Any) -> None:
    rows = [
        battle(a + b, a, b, human="a", judge="tie", scores=None)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    found = compute_scorers(read(*rows))
    limits = next(each for each in found.limits if (each.first, each.second) == ("human", "judge"))
    points = [(each.system, each.battles, each.first, each.second) for each in limits.systems]
    assert points == [("x", 2, 1.0, 0.5), ("y", 2, 0.5, 0.5), ("z", 2, 0.0, 0.5)]
    assert limits.bias == 0.0  # differences ½, 0 and -½ have a standard deviation of ½
    assert (limits.low, limits.high) == (pytest.approx(-0.98, abs=1e-4), pytest.approx(0.98, abs=1e-4))
    nugget = next(each for each in found.limits if each.second == "nugget")
    assert nugget.low is None
    assert "0 systems" in (nugget.missing or "")


def test_scorers_that_always_agree_have_a_kappa_of_one(read: Any) -> None:
    found = compute_scorers(read(*round_robin(), battle("quiet", human=None, judge=None)))
    said = {(each.first, each.second): (each.kappa, each.same, each.compared) for each in found.alike}
    assert said["human", "judge"] == (1.0, 12, 12)
    assert found.alike[0].received == 13


def test_a_judge_that_always_takes_the_first_is_caught(read: Any) -> None:
    rows = [battle(f"b{x}", human=x, judgments=[judgment("tie", flipped=True)]) for x in ("a", "b")]
    (found,) = compute_scorers(read(*rows)).orders
    assert (found.position.first, found.position.second, found.position.share) == (4, 0, 1.0)
    assert found.position.p_value == pytest.approx(2 / 16)
    assert found.compared == {"A shown first": 2, "B shown first": 2}
    assert found.kappa == {"A shown first": 0.0, "B shown first": 0.0}
    assert (found.pooled, found.delta) == (0.0, 0.0)


def test_without_people_a_judges_order_effect_has_no_kappa(read: Any) -> None:
    (found,) = compute_scorers(read(battle("b1", human=None))).orders
    assert found.dimension is None
    assert found.kappa == {"A shown first": None, "B shown first": None}
    assert (found.pooled, found.delta, found.position.share) == (None, None, 0.5)
