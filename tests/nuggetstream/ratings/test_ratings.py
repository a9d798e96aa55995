"""Bradley-Terry: by hand, against published scores, as properties, and what cannot be ranked."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.bootstrap import Bootstrap
from nuggetstream.ratings.bradley_terry import ELO_PER_LOGIT, NotConverged, fit
from nuggetstream.ratings.leaderboard import Anchor, leaderboard
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.tally import Tally, TiePolicy, Unrankable, rankable
from tests.nuggetstream.ratings.rated import rate


def tally_of(*entries: tuple[str, str, Vote]) -> Tally:
    return Tally.count((a, b, winner, 1) for a, b, winner in entries)


def connected_points(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(points, 0)
    return points


def test_two_systems_have_the_odds_they_showed() -> None:
    theta = fit(np.array([[0.0, 9.0], [1.0, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(np.log(9))


def test_three_systems_match_another_optimiser() -> None:
    points = connected_points(7, 4)

    def negative_log_likelihood(theta: np.ndarray) -> float:
        gap = theta[:, None] - theta[None, :]
        return float((points * np.log1p(np.exp(-gap))).sum())

    oracle = minimize(negative_log_likelihood, np.zeros(4), tol=1e-12).x
    assert fit(points) == pytest.approx(oracle - oracle.mean(), abs=1e-5)


def test_a_batch_is_the_same_as_one_by_one() -> None:
    slices = [connected_points(seed) for seed in range(6)]
    assert fit(np.stack(slices)) == pytest.approx(np.stack([fit(s) for s in slices]))


@given(st.integers(0, 10_000), st.permutations(range(5)))
@settings(max_examples=30, deadline=None)
def test_renaming_systems_renames_results(seed: int, order: list[int]) -> None:
    points = connected_points(seed)
    assert fit(points[np.ix_(order, order)]) == pytest.approx(fit(points)[list(order)], abs=1e-7)


@given(st.integers(0, 10_000), st.floats(0.5, 50))
@settings(max_examples=30, deadline=None)
def test_repeating_all_battles_changes_no_strength(seed: int, times: float) -> None:
    points = connected_points(seed)
    assert fit(points * times) == pytest.approx(fit(points), abs=1e-7)


def test_an_undefeated_system_has_no_finite_strength() -> None:
    with pytest.raises(NotConverged):
        fit(np.array([[0.0, 3.0], [0.0, 0.0]]))


def test_an_undefeated_system_is_not_rankable_and_the_rest_is() -> None:
    tally = tally_of(("x", "y", Vote.A), ("x", "y", Vote.B), ("best", "x", Vote.A), ("worst", "y", Vote.B))
    board = {s.system: s for s in leaderboard(tally, np.random.default_rng(0)).standings}
    assert board["best"].unrankable is Unrankable.UNDEFEATED
    assert board["best"].rating is None
    assert board["worst"].unrankable is Unrankable.WINLESS
    assert board["x"].rating is not None


def test_islands_are_not_compared() -> None:
    tally = tally_of(("x", "y", Vote.TIE), ("x", "y", Vote.TIE), ("p", "q", Vote.A), ("p", "q", Vote.B))
    ranked, reasons = rankable(tally.points(TiePolicy.HALF))
    assert [tally.systems[i] for i in ranked] == ["p", "q"]
    assert set(reasons.values()) == {Unrankable.DISCONNECTED}


def test_a_battle_that_does_not_count_ranks_nobody() -> None:
    tally = tally_of(("x", "y", Vote.BOTH_BAD))
    board = leaderboard(tally, np.random.default_rng(0), policy=TiePolicy.DROP_BOTH_BAD)
    assert {s.unrankable for s in board.standings} == {Unrankable.NO_BATTLES}


def test_no_battles_give_an_empty_board() -> None:
    assert leaderboard(Tally.count([]), np.random.default_rng(0)).standings == ()


def test_everybody_tied_is_equal_and_shares_the_first_place() -> None:
    ratings = rate(np.zeros((2, 2)), np.array([[0.0, 8.0], [8.0, 0.0]]), np.random.default_rng(0))
    assert ratings.rating == pytest.approx([1000, 1000])
    assert list(ratings.rank) == [1, 1]
    assert ratings.probability_first == pytest.approx([0.5, 0.5])


def test_a_board_of_ties_alone_has_ratings_and_says_nothing_of_how_sure_they_are() -> None:
    board = leaderboard(tally_of(("x", "y", Vote.TIE), ("x", "y", Vote.TIE)), np.random.default_rng(0))
    found = [(s.rating, s.rank, s.low, s.high, s.probability_first) for s in board.standings]
    assert found == [(pytest.approx(1000), None, None, None, None)] * 2


def test_a_system_that_only_tied_with_the_anchor_has_no_interval_and_the_anchor_has() -> None:
    votes = [("x", "y", Vote.TIE)] * 3 + [("y", "z", Vote.A), ("y", "z", Vote.B), ("z", "y", Vote.A)]
    board = leaderboard(tally_of(*votes), np.random.default_rng(0), anchor=Anchor("y", 1100.0))
    ends = {s.system: (s.low is None, s.probability_first is None) for s in board.standings}
    assert ends == {"x": (True, False), "y": (False, False), "z": (False, False)}


def test_a_battle_against_oneself_is_refused() -> None:
    with pytest.raises(ValueError, match="'x' battles itself"):
        tally_of(("x", "x", Vote.A))


def test_a_count_that_is_not_a_number_is_refused() -> None:
    for count in (float("nan"), float("inf"), -1.0):
        with pytest.raises(ValueError, match=f"{count} battles between 'x' and 'y'"):
            Tally.count([("x", "y", Vote.A, count)])


@given(
    st.permutations([("x", "y", Vote.A), ("y", "z", Vote.B), ("z", "x", Vote.TIE), ("x", "z", Vote.BOTH_BAD)])
)
def test_the_order_of_battles_never_matters(entries: list[tuple[str, str, Vote]]) -> None:
    first, again = tally_of(*entries), tally_of(*sorted(entries))
    assert (first.points(TiePolicy.HALF) == again.points(TiePolicy.HALF)).all()


def test_resampling_keeps_the_mean_and_every_cell_open() -> None:
    wins, drawn = connected_points(3), np.zeros((5, 5))
    drawn[0, 1] = drawn[1, 0] = 6
    pairs = Pairs.of(wins, drawn)
    cells = Bootstrap.BAYESIAN.draw(pairs, 4000, np.random.default_rng(1)).cells
    assert cells.mean(axis=0) == pytest.approx(pairs.cells, rel=0.1)
    assert (cells[:, pairs.cells > 0] > 0).all()


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng, inside, runs = np.random.default_rng(5), 0, 200
    truth = np.log(3.0)
    for _ in range(runs):
        won = rng.binomial(60, 1 / (1 + np.exp(-truth)))
        if 0 < won < 60:
            points = np.array([[0.0, won], [60.0 - won, 0.0]])
            ratings = rate(points, np.zeros((2, 2)), rng, resamples=400)
            low, high = (ratings.low[0] - 1000, ratings.high[0] - 1000)
            inside += low <= truth / 2 * ELO_PER_LOGIT <= high
    assert 0.90 <= inside / runs <= 0.99


def test_the_same_seed_gives_the_same_board() -> None:
    tally = tally_of(("x", "y", Vote.A), ("x", "y", Vote.B), ("y", "z", Vote.TIE))
    assert leaderboard(tally, np.random.default_rng(3)) == leaderboard(tally, np.random.default_rng(3))


def test_arena_scores_of_1_67_million_votes_are_reproduced(recorded_data: Path) -> None:
    votes = json.loads((recorded_data / "lmsys_2024_08" / "votes.json").read_text())
    entries = []
    for (x, y), counts in zip(votes["X"], votes["Y"], strict=True):
        names = votes["models"][x], votes["models"][y]
        entries += [(*names, vote, count) for vote, count in zip(Vote, counts, strict=True)]
    tally = Tally.count(entries)
    theta = fit(tally.points(TiePolicy.HALF)) * ELO_PER_LOGIT
    place = {name: i for i, name in enumerate(tally.systems)}
    scores = theta - theta[place["mixtral-8x7b-instruct-v0.1"]] + 1114
    with (recorded_data / "lmsys_2024_08" / "official-scores.csv").open() as file:
        official = {row["model"]: float(row["arena_score"]) for row in csv.DictReader(file)}
    gaps = [abs(scores[place[name]] - score) for name, score in official.items()]
    assert len(gaps) == 105
    assert max(gaps) <= 2.0


def test_published_ratings_of_59_models_are_reproduced(recorded_data: Path) -> None:
    votes = {"left": Vote.A, "right": Vote.B, "tie": Vote.TIE}
    with (recorded_data / "llmfao" / "crowd-comparisons.csv").open() as file:
        counts = Counter((r["left"], r["right"], votes[r["winner"]]) for r in csv.DictReader(file))
    tally = Tally.count((*key, count) for key, count in counts.items())
    strengths = np.exp(fit(tally.points(TiePolicy.HALF)))
    with (recorded_data / "llmfao" / "golden-ratings.csv").open() as file:
        golden = {
            r["item"]: float(r["score"]) for r in csv.DictReader(file) if r["algorithm"] == "bradley_terry"
        }
    published = np.array([golden[name] for name in tally.systems])
    assert len(published) == 59
    assert strengths / strengths.sum() == pytest.approx(published / published.sum(), rel=1e-6)
