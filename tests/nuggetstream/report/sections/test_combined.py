"""Few human votes extended by many automatic ones, and which vote to ask for next."""

from math import log
from typing import Any

import pytest

from nuggetstream.report.sections.combined import SECTION
from nuggetstream.report.sections.combined.numbers import PEOPLE
from nuggetstream.report.strengths import Rated
from tests.evaluated import battle, judgment, round_robin, votes

ELO = 400 / log(10)  # points per logit


def test_a_judge_that_agrees_narrows_the_interval_by_hand(read: Any) -> None:
    voted, unvoted = votes(15, 20), votes(45, 60, "more")
    for row in unvoted:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = SECTION.compute(read(*voted, *unvoted))
    judge = next(each for each in arena.powered if each.lens == "judge")
    assert (judge.humans, judge.automatics) == (20, 60)
    # λ = cov / ((1 + n/N) var): 20/19 of 3/16 among the voted, 80/79 of 3/16 among all, n/N = 1/3.
    assert judge.trust == pytest.approx(0.75 * (20 / 19) / (80 / 79))
    best, worst = judge.systems
    assert best.human is not None
    assert best.combined is not None
    assert worst.combined is not None
    assert best.combined.rating - worst.combined.rating == pytest.approx(ELO * log(3))
    assert best.combined.high - best.combined.low < best.human.high - best.human.low
    assert arena.next.basis == "people's votes with those of the judge lens"


def test_without_further_votes_the_combined_estimate_is_peoples_own(read: Any) -> None:
    (arena,) = SECTION.compute(read(*round_robin()))
    for each in arena.powered:
        assert (each.humans, each.automatics, each.trust) == (12, 0, 0.0)
        assert all(system.combined == system.human is not None for system in each.systems)
    assert arena.next.basis == PEOPLE


def test_human_votes_that_cannot_rank_give_no_human_rating(read: Any) -> None:
    rows = round_robin()
    for row in rows[3:]:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = SECTION.compute(read(*rows))
    judge = arena.powered[1]
    assert (judge.humans, judge.automatics) == (3, 9)
    assert [system.human for system in judge.systems] == [None] * 3
    assert all(system.automatic is not None for system in judge.systems)


def test_why_there_is_no_combined_estimate_is_said(read: Any) -> None:
    rows = votes(3, 4)
    for row in rows[1:]:
        row |= {"human_vote": None, "reference": {}}
    nugget, judge = SECTION.compute(read(*rows))[0].powered
    assert "nugget lens cannot rank any two systems" in (nugget.missing or "")  # x wins them all
    assert "1 battle has both" in (judge.missing or "")
    assert (judge.trust, judge.systems) == (None, ())


def test_a_judge_that_only_ties_has_no_interval_of_its_own(read: Any) -> None:
    rows = [row | {"judgments": [judgment("tie")]} for row in round_robin()]
    judge = SECTION.compute(read(*rows))[0].powered[1]
    assert judge.degenerate == ("automatic",)
    assert all(system.automatic is None and system.human is not None for system in judge.systems)


def test_a_system_that_only_ties_with_equals_has_a_rating_and_no_interval(read: Any) -> None:
    rows = votes(1, 2)
    rows += [battle(f"{other}{i}", "z", other, human="tie", judge="tie") for other in "xy" for i in range(3)]
    systems = SECTION.compute(read(*rows))[0].powered[1].systems
    human = {each.system: each.human for each in systems}
    assert human["z"] == Rated(pytest.approx(1000), None, None)
    assert human["x"] is not None
    assert human["x"].low is not None
    assert human["x"].low < 1000


def test_equals_need_no_number_of_votes(read: Any) -> None:
    (arena,) = SECTION.compute(read(*votes(10, 20)))
    assert [each.votes for each in arena.next.needed] == [None]


def test_the_next_vote_goes_to_the_system_known_least(read: Any) -> None:
    rows = votes(10, 20)
    rows += [battle(f"z{side}", "z", "x", human=side, judge=None, scores=None) for side in ("a", "b")]
    (arena,) = SECTION.compute(read(*rows))
    assert arena.next.missing is None
    assert {arena.next.ask[0].first, arena.next.ask[0].second} & {"z"}
    assert 0 < arena.next.ask[0].shrinkage < 1
    assert all(each.votes is None or each.votes > 0 for each in arena.next.needed)


def test_without_votes_there_is_no_advice(read: Any) -> None:
    (arena,) = SECTION.compute(read(battle("1", human=None)))
    assert (arena.next.missing, arena.next.ask) == ("no battle between two systems has a human vote", ())
