"""Bradley-Terry strengths: by hand, against published scores, and where there are none."""

import csv
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.bradley_terry import fit, fit_pairs
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.newton import NotConverged
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.tie_models import fit_davidson, fit_rao_kupper
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.rated import rate

NAN, INF = float("nan"), float("inf")
NONE = np.zeros((0, 0))
ISLANDS = np.kron(np.eye(2), np.array([[0.0, 2.0], [1.0, 0.0]]))  # w-x and y-z never met
UNDEFEATED = np.array([[0.0, 3.0], [0.0, 0.0]])
MISSING = np.array([[0.0, NAN], [1.0, 0.0]])
ENDLESS = np.array([[0.0, INF], [INF, 0.0]])
NEGATIVE = np.array([[0.0, -1.0], [3.0, 0.0]])


def connected_points(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(points, 0)
    return points


def batch(wins: np.ndarray, drawn: np.ndarray | None = None) -> Pairs:
    pairs = Pairs.of(wins, np.zeros_like(wins) if drawn is None else drawn)
    return pairs.counted(pairs.cells[None])


def test_two_systems_have_the_odds_they_showed() -> None:
    theta = fit(np.array([[0.0, 9.0], [1.0, 0.0]]))
    assert theta[0] - theta[1] == pytest.approx(np.log(9))


def test_a_batch_is_the_same_as_one_by_one() -> None:
    slices = [connected_points(seed) for seed in range(6)]
    assert fit(np.stack(slices)) == pytest.approx(np.stack([fit(s) for s in slices]))


def test_an_undefeated_system_has_no_finite_strength() -> None:
    with pytest.raises(NotConverged):
        fit(np.array([[0.0, 3.0], [0.0, 0.0]]))


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


@pytest.mark.parametrize("points", [NONE, np.zeros((1, 1)), ISLANDS, UNDEFEATED, MISSING, NEGATIVE, ENDLESS])
def test_no_model_has_strengths_for_these(points: np.ndarray) -> None:
    nothing, one_tie = np.zeros_like(points), np.zeros_like(points)
    one_tie[:1, 1:2] = one_tie[1:2, :1] = 1.0 if points is not UNDEFEATED else 0.0
    with pytest.raises(NotConverged):
        fit(points)
    with pytest.raises(NotConverged):
        rate(points, nothing, seeded())
    for model in (fit_davidson, fit_rao_kupper):
        for drawn in (nothing, one_tie):
            with pytest.raises(NotConverged):
                model(batch(points, drawn))


def test_an_undefeated_system_has_no_strength_where_newton_happens_to_stop() -> None:
    """Far out, where its chance is 1 but for rounding, no step is left to take."""
    wins = np.array([[0, 17.0, 33, 0], [0, 0, 20, 21], [0, 8, 0, 41], [0, 3, 8, 0]])
    points = np.array([[0, 0, 100.0], [0, 0, 1], [0, 1e5, 0]])
    for counts in (wins, points, np.stack([points, points + points.T])):
        with pytest.raises(NotConverged, match="not strongly connected"):
            fit(counts)
    drawn = np.zeros((4, 4))
    drawn[1, 2] = drawn[2, 1] = 8
    for model in (fit_davidson, fit_rao_kupper):
        with pytest.raises(NotConverged, match="not strongly connected"):
            model(batch(wins, drawn))


@pytest.mark.parametrize("cell", range(3))
@pytest.mark.parametrize("count", [-0.5, NAN, INF])
def test_one_impossible_count_among_many_battles_is_found(cell: int, count: float) -> None:
    pairs = batch(np.array([[0, 9.0, 8], [7, 0, 6], [5, 4, 0]]), np.ones((3, 3)) - np.eye(3))
    bad = pairs.cells.copy()
    bad[0, cell, 1] = count
    for model in (fit_pairs, fit_davidson, fit_rao_kupper):
        with pytest.raises(NotConverged, match="finite and not negative"):
            model(pairs.counted(bad))
