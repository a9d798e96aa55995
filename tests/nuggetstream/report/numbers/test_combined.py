"""Few human votes extended by many automatic ones, and which vote to ask for next."""

from math import log
from typing import Any

import pytest

from nuggetstream.ratings.combined_standing import EstimateState
from nuggetstream.ratings.comparison import Separation
from nuggetstream.report.numbers.combined import PEOPLE, compute_combined
from tests.evaluated import battle, judgment, round_robin, votes

ELO = 400 / log(10)  # points per logit


def test_a_judge_that_agrees_narrows_the_interval_by_hand(read: Any) -> None:
    voted, unvoted = votes(15, 20), votes(45, 60, "more")
    for row in unvoted:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = compute_combined(read(*voted, *unvoted))
    judge = next(each for each in arena.lenses if each.lens == "judge")
    assert (judge.both, judge.automatic_only) == (20, 60)
    # λ = cov / ((1 + n/N) var): 20/19 of 3/16 among the voted, 80/79 of 3/16 among all, n/N = 1/3.
    assert judge.tuning == pytest.approx(0.75 * (20 / 19) / (80 / 79))
    best, worst = judge.systems
    assert best.human is not None
    assert best.combined is not None
    assert worst.combined is not None
    assert best.combined.rating - worst.combined.rating == pytest.approx(ELO * log(3))
    assert best.combined.high - best.combined.low < best.human.high - best.human.low
    assert arena.basis == "people's votes with those of the judge lens"


def test_without_further_votes_the_combined_estimate_is_peoples_own(read: Any) -> None:
    (arena,) = compute_combined(read(*round_robin()))
    for each in arena.lenses:
        assert (each.both, each.automatic_only, each.tuning) == (12, 0, 0.0)
        assert all(system.combined == system.human is not None for system in each.systems)
    assert arena.basis == PEOPLE


def test_human_votes_that_cannot_rank_give_no_human_rating(read: Any) -> None:
    rows = round_robin()
    for row in rows[3:]:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = compute_combined(read(*rows))
    judge = arena.lenses[1]
    assert (judge.both, judge.automatic_only) == (3, 9)
    assert [system.human for system in judge.systems] == [None] * 3
    assert all(system.automatic is not None for system in judge.systems)


def test_why_there_is_no_combined_estimate_is_said(read: Any) -> None:
    rows = votes(3, 4)
    for row in rows[1:]:
        row |= {"human_vote": None, "reference": {}}
    nugget, judge = compute_combined(read(*rows))[0].lenses
    assert nugget.states["combined"] is EstimateState.NOBODY_RANKED  # x wins them all
    assert judge.states["combined"] is EstimateState.TOO_FEW_VOTES
    assert judge.tuning is None
    assert all(system.automatic and not system.combined for system in judge.systems)


def test_a_judge_that_only_ties_has_no_interval_of_its_own(read: Any) -> None:
    rows = [row | {"judgments": [judgment("tie")]} for row in round_robin()]
    judge = compute_combined(read(*rows))[0].lenses[1]
    assert judge.states["automatic"] is EstimateState.ALL_TIED
    assert all(system.automatic is None and system.human is not None for system in judge.systems)


def test_a_system_that_only_ties_with_equals_has_a_rating_and_no_interval(read: Any) -> None:
    rows = votes(1, 2)
    rows += [battle(f"{other}{i}", "z", other, human="tie", judge="tie") for other in "xy" for i in range(3)]
    systems = compute_combined(read(*rows))[0].lenses[1].systems
    human = {each.system: each.human for each in systems}
    assert human["z"] is not None
    assert (human["z"].rating, human["z"].low, human["z"].high) == (pytest.approx(1000), None, None)
    assert human["x"] is not None
    assert human["x"].low is not None
    assert human["x"].low < 1000


def test_equals_need_no_number_of_votes(read: Any) -> None:
    (arena,) = compute_combined(read(*votes(10, 20)))
    assert [(pair.needed, pair.state) for pair in arena.next.neighbours] == [(None, Separation.EQUAL)]


def test_the_next_vote_goes_to_the_system_known_least(read: Any) -> None:
    rows = votes(10, 20)
    rows += [battle(f"z{side}", "z", "x", human=side, judge=None, scores=None) for side in ("a", "b")]
    (arena,) = compute_combined(read(*rows))
    assert arena.next.missing is None
    assert {arena.next.next[0].a, arena.next.next[0].b} & {"z"}
    assert 0 < arena.next.next[0].shrinkage < 1
    assert all(pair.needed is None or pair.needed > 0 for pair in arena.next.neighbours)


def test_without_votes_there_is_no_advice(read: Any) -> None:
    (arena,) = compute_combined(read(battle("1", human=None)))
    assert (arena.next.missing, arena.next.next) == ("no battle between two systems has a human vote", ())
