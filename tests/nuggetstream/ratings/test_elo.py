"""Elo: what a game moves, what a tournament averages, and what the compatibility mode gives up."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.elo import (
    Arithmetic,
    Games,
    expected,
    from_percentages,
    tournaments,
    win_percentages,
)
from nuggetstream.ratings.fitting.tally import Tally
from tests.nuggetstream.ratings.drawn import seeded

NAN, INF = float("nan"), float("inf")


def games_of(*results: tuple[int, int, float], systems: int = 3) -> Games:
    a, b, score = (np.array(column) for column in zip(*results, strict=True))
    return Games(tuple("xyz"[:systems]), a, b, score.astype(float))


def test_equals_split_sixteen_points() -> None:
    elo = tournaments(games_of((0, 1, 1.0)), np.random.default_rng(0), rounds=1)
    assert elo.rating.tolist() == [1016, 984, 1000]


def test_a_run_of_wins_gains_less_each_time() -> None:
    """With the sign of the expectation turned round it would gain more and more."""
    ratings = [
        tournaments(games_of(*[(0, 1, 1.0)] * n), np.random.default_rng(0), rounds=1).rating[0]
        for n in range(1, 7)
    ]
    gains = np.diff([1000, *ratings])
    assert (np.diff(gains) < 0).all()
    assert (gains > 0).all()


def test_the_stronger_is_expected_to_take_more_than_half() -> None:
    assert expected(np.array(1200.0), np.array(1000.0)) > 0.5


def test_games_are_counted_once_and_not_once_per_tournament() -> None:
    elo = tournaments(games_of((0, 1, 1.0), (0, 2, 0.5)), np.random.default_rng(0), rounds=500)
    assert elo.games.tolist() == [2, 1, 1]


def test_cutting_to_whole_numbers_loses_points_and_is_labelled() -> None:
    games = games_of(*[(0, 1, 1.0), (1, 0, 1.0), (0, 2, 0.5)] * 20)
    elo = tournaments(games, np.random.default_rng(0), arithmetic=Arithmetic.RAGELO)
    assert elo.arithmetic is Arithmetic.RAGELO
    assert elo.rating.sum() < 3000
    assert (elo.rating % 1 == 0).all()


def test_the_same_seed_gives_the_same_tournaments() -> None:
    games = games_of(*[(0, 1, 1.0), (1, 2, 0.0)] * 5)
    first, again = (tournaments(games, np.random.default_rng(4)) for _ in range(2))
    assert (first.rating == again.rating).all()
    assert first.deviation[1] > 0


def test_side_by_side_tournaments_match_one_game_after_the_other() -> None:
    rng = np.random.default_rng(9)
    games = games_of(*[(0, 1, 1.0), (1, 2, 0.5), (2, 0, 0.0), (0, 1, 0.0)] * 4)
    order = np.random.default_rng(9).permuted(np.arange(16)[None], axis=1)[0]
    rating = [1000.0] * 3
    for g in order:
        a, b = games.a[g], games.b[g]
        change = 32 * (games.score[g] - 1 / (1 + 10 ** ((rating[b] - rating[a]) / 400)))
        rating[a] += change
        rating[b] -= change
    assert tournaments(games, rng, rounds=1).rating == pytest.approx(rating)


def test_every_battle_is_a_game() -> None:
    tally = Tally.count([("x", "y", Vote.A, 3), ("x", "y", Vote.TIE, 2), ("y", "x", Vote.BOTH_BAD, 1)])
    games = Games.of(tally)
    assert sorted(games.score.tolist()) == [0.5, 0.5, 0.5, 1, 1, 1]


@pytest.mark.parametrize(
    ("tally", "message"),
    [
        (Tally.count([("x", "y", Vote.A, 0.5)]), "whole"),
        (Tally.count([("x", "y", Vote.A, 1), ("x", "y", Vote.TIE, 1.5)]), "whole"),
        (Tally.count([]), "needs games"),
    ],
)
def test_what_is_no_tournament_is_refused(tally: Tally, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Games.of(tally)


@pytest.mark.parametrize("game", [(0, 0, 1.0), (0, 1, 1.5), (0, 1, -0.5), (0, 1, float("nan"))])
def test_an_impossible_game_is_refused(game: tuple[int, int, float]) -> None:
    for games in ([game], [(0, 1, 1.0), game]):
        with pytest.raises(ValueError, match=r"plays itself|not in \[0, 1\]"):
            games_of(*games)


def test_every_tournament_plays_every_game_once() -> None:
    """Two pairs that never meet: whatever the order, all end where one game has put them."""
    games = Games(("w", "x", "y", "z"), np.array([0, 2]), np.array([1, 3]), np.array([1.0, 0.0]))
    found = tournaments(games, np.random.default_rng(0), rounds=50)
    assert found.rating.tolist() == [1016, 984, 984, 1016]
    assert found.deviation.tolist() == [0, 0, 0, 0]


def test_percentages_of_wins_are_counts_and_the_rest_of_a_pair_are_ties() -> None:
    percent = np.array([[np.nan, 14.5, 49.5], [49.0, np.nan, 58.5], [33.0, 27.0, np.nan]])
    tally = from_percentages(["x", "y", "z"], percent, 200)
    assert tally.wins.tolist() == [[0, 29, 99], [98, 0, 117], [66, 54, 0]]
    assert tally.ties.tolist() == [[0, 73, 35], [73, 0, 29], [35, 29, 0]]
    assert not tally.both_bad.any()
    assert win_percentages(tally) == pytest.approx(percent, nan_ok=True)


def test_percentages_of_another_number_of_games_are_refused() -> None:
    with pytest.raises(ValueError, match="not of 10 games"):
        from_percentages(["x", "y"], np.array([[0, 14.5], [50.0, 0]]), 10)
    with pytest.raises(ValueError, match="more than 10 games"):
        from_percentages(["x", "y"], np.array([[0, 70.0], [50.0, 0]]), 10)
    for percent in (-10.0, float("inf"), float("-inf"), float("nan")):
        with pytest.raises(ValueError, match="10 games"):
            from_percentages(["x", "y"], np.array([[0, percent], [50.0, 0]]), 10)


def test_a_tournament_of_nothing_or_of_lists_that_do_not_match_is_refused() -> None:
    one = np.array([0])
    with pytest.raises(ValueError, match="for 2 scores"):
        Games(("w", "x"), one, one + 1, np.array([1.0, 0.0]))
    with pytest.raises(ValueError, match="needs games"):
        Games((), np.array([], int), np.array([], int), np.array([]))
    with pytest.raises(ValueError, match="at least one tournament"):
        tournaments(Games(("w", "x"), one, one + 1, np.array([1.0])), seeded(), rounds=0)
    with pytest.raises(ValueError, match="not of 10 games"):
        from_percentages("wx", np.full((2, 2), NAN), 10)
