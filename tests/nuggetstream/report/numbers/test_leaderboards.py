"""Ratings per lens, pairs of systems, and neighbours in the standings, worked out by hand."""

from math import log
from typing import Any

import pytest

from nuggetstream.ratings.standing import IntervalState
from nuggetstream.report.numbers.leaderboards import compute_leaderboards
from tests.evaluated import battle, round_robin, votes

ELO = 400 / log(10)  # points per logit


def test_three_lenses_that_agree_have_tau_one(read: Any) -> None:
    (arena,) = compute_leaderboards(read(*round_robin()))
    assert [board.standings[0].system for board in arena.boards] == ["strong"] * 3
    assert [(order.tau, order.rho) for order in arena.orders] == [(1.0, pytest.approx(1.0))] * 3


def test_a_self_battle_counts_in_no_board(read: Any) -> None:
    (arena,) = compute_leaderboards(read(*round_robin(), battle("alone", "weak", "weak")))
    assert [(board.scored, board.received) for board in arena.boards] == [(12, 13)] * 3


def test_the_order_of_two_systems_is_no_correlation(read: Any) -> None:
    battles = [battle("b1"), battle("b2", human="b", judge="b", scores=(0.2, 0.6))]
    (arena,) = compute_leaderboards(read(*battles))
    assert all(order.tau is None and "2 systems" in (order.missing or "") for order in arena.orders)


def test_each_arena_has_its_own_boards(read: Any) -> None:
    found = compute_leaderboards(read(battle("b1"), battle("b2", arena="other")))
    assert [(arena.arena, arena.boards[0].scored) for arena in found] == [("tides", 1), ("other", 1)]


def test_a_pair_is_counted_from_both_sides_of_the_screen_and_a_tie_is_half_a_point(read: Any) -> None:
    battles = [battle("1", "x", "y", human="a"), battle("2", "y", "x", human="a")]
    battles += [battle("3", "y", "x", human="tie"), battle("4", "x", "y", human="both_bad")]
    battles += [battle("5", "y", "x", human="b")]
    (arena,) = compute_leaderboards(read(*battles))
    (pair,) = arena.boards[0].pairs
    assert (pair.a, pair.b, pair.battles) == ("x", "y", 5)
    assert (pair.wins_a, pair.ties, pair.wins_b, pair.share) == (2, 2, 1, 0.6)


def test_systems_that_never_met_are_no_pair(read: Any) -> None:
    (arena,) = compute_leaderboards(read(battle("1", "x", "y"), battle("2", "v", "w")))
    assert [(pair.a, pair.b) for pair in arena.boards[0].pairs] == [("v", "w"), ("x", "y")]


def test_three_wins_of_four_put_neighbours_log_three_apart(read: Any) -> None:
    (arena,) = compute_leaderboards(read(*votes(3, 4)))
    (pair,) = arena.boards[0].neighbours
    assert (pair.gap.system, pair.gap.opponent) == ("x", "y")
    assert pair.gap.gap == pytest.approx(ELO * log(3))
    assert pair.gap.low < 0 < pair.gap.gap < pair.gap.high
    assert 0.5 < pair.gap.above < 1
    assert arena.boards[0].standings[0].provisional  # four battles
    assert pair.battles == 4


def test_a_gap_rests_on_the_battles_of_the_system_with_fewer(read: Any) -> None:
    more = [battle(f"z{i}", "z", "x", human="ab"[i % 2]) for i in range(6)]
    (arena,) = compute_leaderboards(read(*votes(3, 4), *more))
    fewer = {(pair.gap.system, pair.gap.opponent): pair.battles for pair in arena.boards[0].neighbours}
    assert len(fewer) == 2
    for pair, battles in fewer.items():
        assert battles == (4 if "y" in pair else 6)


def test_an_undefeated_system_has_no_neighbours(read: Any) -> None:
    (arena,) = compute_leaderboards(read(*votes(4, 4)))
    assert arena.boards[0].neighbours == ()
    assert arena.boards[0].pairs[0].share == 1.0


def test_neighbours_that_have_only_tied_have_no_interval_and_no_chance(read: Any) -> None:
    tied = [battle(f"t{i}", "y", "z", human="tie", judge=None, scores=None) for i in range(10)]
    (arena,) = compute_leaderboards(read(*votes(12, 18), *tied))
    bounded, degenerate = (pair.gap for pair in arena.boards[0].neighbours)
    assert bounded.low is not None
    assert {degenerate.system, degenerate.opponent} == {"y", "z"}
    assert degenerate.interval_state is IntervalState.DEGENERATE
    assert (degenerate.low, degenerate.high, degenerate.above) == (None, None, None)
    assert degenerate.gap == pytest.approx(0)
