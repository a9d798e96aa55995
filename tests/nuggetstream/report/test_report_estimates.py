"""What the report estimates about systems: pairs, style held equal, few votes stretched by many."""

from math import log
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.report import numbers
from nuggetstream.report.numbers.combined import PEOPLE
from nuggetstream.report.numbers.strengths import Rated
from nuggetstream.report.rows import read_results
from tests.evaluated import battle, file_of, judgment, round_robin

ELO = 400 / log(10)  # points per logit


@pytest.fixture
def read(tmp_path: Path) -> Any:
    return lambda *battles: read_results(file_of(tmp_path, battles))


def votes(won: int, of: int, name: str = "b", **more: Any) -> list[dict[str, Any]]:
    """Battles of x and y, the first of them won by x."""
    return [
        battle(f"{name}{i}", "x", "y", human="a" if i < won else "b", judge="a" if i < won else "b", **more)
        for i in range(of)
    ]


def text(system: str, words: str) -> dict[str, Any]:
    return {"system": system, "text": words, "sources": []}


# --- pairs -------------------------------------------------------------------------------------
def test_a_pair_is_counted_from_both_sides_of_the_screen_and_a_tie_is_half_a_point(read: Any) -> None:
    battles = [battle("1", "x", "y", human="a"), battle("2", "y", "x", human="a")]
    battles += [battle("3", "y", "x", human="tie"), battle("4", "x", "y", human="both_bad")]
    battles += [battle("5", "y", "x", human="b")]
    (arena,) = numbers.boards.compute(read(*battles))
    (pair,) = arena.boards[0].pairs
    assert (pair.first, pair.second, pair.battles) == ("x", "y", 5)
    assert (pair.won, pair.tied, pair.lost, pair.share) == (2, 2, 1, 0.6)


def test_systems_that_never_met_are_no_pair(read: Any) -> None:
    (arena,) = numbers.boards.compute(read(battle("1", "x", "y"), battle("2", "v", "w")))
    assert [(pair.first, pair.second) for pair in arena.boards[0].pairs] == [("v", "w"), ("x", "y")]


def test_three_wins_of_four_put_neighbours_log_three_apart(read: Any) -> None:
    (arena,) = numbers.boards.compute(read(*votes(3, 4)))
    (gap,) = arena.boards[0].gaps
    assert (gap.upper, gap.lower) == ("x", "y")
    assert gap.points == pytest.approx(ELO * log(3))
    assert gap.low < 0 < gap.points < gap.high
    first = arena.boards[0].board.standings[0].probability_first
    assert gap.above == first  # of two systems the better one is the first: the same resamples
    assert gap.battles == 4


def test_a_gap_rests_on_the_battles_of_the_system_with_fewer(read: Any) -> None:
    more = [battle(f"z{i}", "z", "x", human="ab"[i % 2]) for i in range(6)]
    (arena,) = numbers.boards.compute(read(*votes(3, 4), *more))
    fewer = {(gap.upper, gap.lower): gap.battles for gap in arena.boards[0].gaps}
    assert len(fewer) == 2
    for pair, battles in fewer.items():
        assert battles == (4 if "y" in pair else 6)


def test_an_undefeated_system_has_no_neighbours(read: Any) -> None:
    (arena,) = numbers.boards.compute(read(*votes(4, 4)))
    assert arena.boards[0].gaps == ()
    assert arena.boards[0].pairs[0].share == 1.0


def test_neighbours_that_have_only_tied_have_no_interval_and_no_chance(read: Any) -> None:
    tied = [battle(f"t{i}", "y", "z", human="tie", judge=None, scores=None) for i in range(3)]
    (arena,) = numbers.boards.compute(read(*votes(6, 9), *tied))
    sure, still = arena.boards[0].gaps
    assert sure.low is not None
    assert {still.upper, still.lower} == {"y", "z"}
    assert (still.low, still.high, still.above) == (None, None, None)
    assert still.points == pytest.approx(0)


# --- style -------------------------------------------------------------------------------------
def styled() -> list[dict[str, Any]]:
    """x wins 15 of 20 where its answer is three times as long, 10 of 20 where that of y is."""
    long, short = votes(15, 20, "long"), votes(10, 20, "short")
    for row in long:
        row |= {"a": text("x", "aaa"), "b": text("y", "b")}
    for row in short:
        row |= {"a": text("x", "a"), "b": text("y", "bbb")}
    return long + short


def test_two_groups_of_votes_give_strength_and_coefficient_by_hand(read: Any) -> None:
    (found,) = numbers.style_control.compute(read(*styled()))
    length = found.effects[0].coefficient
    # logit 15/20 = log 3 = gap + β and logit 10/20 = 0 = gap - β, where β is per standard deviation.
    assert length is not None
    assert (length.feature, length.value) == ("length", pytest.approx(log(3) / 2))
    assert length.deviation == pytest.approx(0.5)
    x, y = found.systems
    assert x.controlled.rating - y.controlled.rating == pytest.approx(ELO * log(3) / 2)
    assert x.plain.rating - y.plain.rating == pytest.approx(ELO * log(25 / 15))
    assert x.controlled.low < x.controlled.rating < x.controlled.high
    assert (found.votes, found.queries, found.received) == (40, 40, 40)
    assert (found.parameters, found.missing) == (2, None)


def test_a_feature_that_hardly_ever_differs_is_not_held_equal(read: Any) -> None:
    rows = styled()
    rows[0] |= {"a": text("x", "**aaa**")}
    (found,) = numbers.style_control.compute(read(*rows))
    effects = {each.feature: each for each in found.effects}
    assert (effects["bold"].differs, effects["bold"].coefficient) == (1, None)
    assert effects["length"].coefficient is not None
    assert found.missing is None


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([battle("1", "x", "x")], "no human vote between two systems"),
        ([battle("1", human=None)], "no human vote between two systems"),
        (votes(4, 4), "people's votes cannot rank any two systems yet"),
        (votes(3, 4, query="q"), "all votes are on one query"),
        (
            [row | {"a": text("x", "abc"), "b": text("y", "cba")} for row in votes(9, 12)],
            "no feature of style differs in at least 10 of 12",
        ),
        (votes(3, 4), "4 votes; it takes 10 that differ in a feature of style"),
    ],
)
def test_why_style_cannot_be_held_equal_is_said(read: Any, rows: list[dict[str, Any]], reason: str) -> None:
    (found,) = numbers.style_control.compute(read(*rows))
    assert reason in (found.missing or "")
    assert (found.systems, found.effects) == ((), ())


def test_too_few_votes_for_the_numbers_to_be_found_give_none(read: Any) -> None:
    (found,) = numbers.style_control.compute(read(*round_robin()))
    assert found.missing == "12 votes for 3 numbers to be found; it takes 15"  # two gaps and length
    (found,) = numbers.style_control.compute(read(*round_robin(per_pair=5)))
    assert found.missing is None


def test_when_the_longer_answer_always_wins_there_is_no_coefficient(read: Any) -> None:
    rows = styled()
    for row in rows:
        row |= {"human_vote": "a" if row["id"].startswith("long") else "b"}
    (found,) = numbers.style_control.compute(read(*rows))
    assert "style predicts the votes perfectly" in (found.missing or "")


# --- few votes and many ------------------------------------------------------------------------
def test_a_judge_that_agrees_narrows_the_interval_by_hand(read: Any) -> None:
    voted, unvoted = votes(15, 20), votes(45, 60, "more")
    for row in unvoted:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = numbers.combined.compute(read(*voted, *unvoted))
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
    (arena,) = numbers.combined.compute(read(*round_robin()))
    for each in arena.powered:
        assert (each.humans, each.automatics, each.trust) == (12, 0, 0.0)
        assert all(system.combined == system.human is not None for system in each.systems)
    assert arena.next.basis == PEOPLE


def test_human_votes_that_cannot_rank_give_no_human_rating(read: Any) -> None:
    rows = round_robin()
    for row in rows[3:]:
        row |= {"human_vote": None, "reference": {}}
    (arena,) = numbers.combined.compute(read(*rows))
    judge = arena.powered[1]
    assert (judge.humans, judge.automatics) == (3, 9)
    assert [system.human for system in judge.systems] == [None] * 3
    assert all(system.automatic is not None for system in judge.systems)


def test_why_there_is_no_combined_estimate_is_said(read: Any) -> None:
    rows = votes(3, 4)
    for row in rows[1:]:
        row |= {"human_vote": None, "reference": {}}
    nugget, judge = numbers.combined.compute(read(*rows))[0].powered
    assert "nugget lens cannot rank any two systems" in (nugget.missing or "")  # x wins them all
    assert "1 battle has both" in (judge.missing or "")
    assert (judge.trust, judge.systems) == (None, ())


def test_a_judge_that_only_ties_has_no_interval_of_its_own(read: Any) -> None:
    rows = [row | {"judgments": [judgment("tie")]} for row in round_robin()]
    judge = numbers.combined.compute(read(*rows))[0].powered[1]
    assert judge.flat == ("automatic",)
    assert all(system.automatic is None and system.human is not None for system in judge.systems)


def test_a_system_that_only_ties_with_equals_has_a_rating_and_no_interval(read: Any) -> None:
    rows = votes(1, 2)
    rows += [battle(f"{other}{i}", "z", other, human="tie", judge="tie") for other in "xy" for i in range(3)]
    systems = numbers.combined.compute(read(*rows))[0].powered[1].systems
    human = {each.system: each.human for each in systems}
    assert human["z"] == Rated(pytest.approx(1000), None, None)
    assert human["x"] is not None
    assert human["x"].low is not None
    assert human["x"].low < 1000


def test_equals_need_no_number_of_votes(read: Any) -> None:
    (arena,) = numbers.combined.compute(read(*votes(10, 20)))
    assert [each.votes for each in arena.next.needed] == [None]


def test_the_next_vote_goes_to_the_system_known_least(read: Any) -> None:
    rows = votes(10, 20)
    rows += [battle(f"z{side}", "z", "x", human=side, judge=None, scores=None) for side in ("a", "b")]
    (arena,) = numbers.combined.compute(read(*rows))
    assert arena.next.missing is None
    assert {arena.next.ask[0].first, arena.next.ask[0].second} & {"z"}
    assert 0 < arena.next.ask[0].shrinkage < 1
    assert all(each.votes is None or each.votes > 0 for each in arena.next.needed)


def test_without_votes_there_is_no_advice(read: Any) -> None:
    (arena,) = numbers.combined.compute(read(battle("1", human=None)))
    assert (arena.next.missing, arena.next.ask) == ("no human vote between two systems", ())


# --- scorers -----------------------------------------------------------------------------------
def test_limits_of_agreement_by_hand(read: Any) -> None:
    rows = [
        battle(a + b, a, b, human="a", judge="tie", scores=None)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    found = numbers.scorers.compute(read(*rows))
    limits = next(each for each in found.limits if (each.first, each.second) == ("human", "judge"))
    points = [(each.system, each.battles, each.first, each.second) for each in limits.systems]
    assert points == [("x", 2, 1.0, 0.5), ("y", 2, 0.5, 0.5), ("z", 2, 0.0, 0.5)]
    assert limits.bias == 0.0  # differences ½, 0 and -½ have a standard deviation of ½
    assert (limits.low, limits.high) == (pytest.approx(-0.98, abs=1e-4), pytest.approx(0.98, abs=1e-4))
    nugget = next(each for each in found.limits if each.second == "nugget")
    assert nugget.low is None
    assert "0 systems" in (nugget.missing or "")


def test_scorers_that_always_agree_have_a_kappa_of_one(read: Any) -> None:
    found = numbers.scorers.compute(read(*round_robin(), battle("quiet", human=None, judge=None)))
    said = {(each.first, each.second): (each.kappa, each.same, each.compared) for each in found.alike}
    assert said["human", "judge"] == (1.0, 12, 12)
    assert found.alike[0].received == 13


def test_a_judge_that_always_takes_the_first_is_caught(read: Any) -> None:
    rows = [battle(f"b{x}", human=x, judgments=[judgment("tie", flipped=True)]) for x in ("a", "b")]
    (found,) = numbers.scorers.compute(read(*rows)).orders
    assert (found.position.first, found.position.second, found.position.share) == (4, 0, 1.0)
    assert found.position.p_value == pytest.approx(2 / 16)
    assert found.compared == {"A shown first": 2, "B shown first": 2}
    assert found.kappa == {"A shown first": 0.0, "B shown first": 0.0}
    assert (found.pooled, found.delta) == (0.0, 0.0)


def test_without_people_a_judges_order_effect_has_no_kappa(read: Any) -> None:
    (found,) = numbers.scorers.compute(read(battle("b1", human=None))).orders
    assert found.dimension is None
    assert found.kappa == {"A shown first": None, "B shown first": None}
    assert (found.pooled, found.delta, found.position.share) == (None, None, 0.5)
