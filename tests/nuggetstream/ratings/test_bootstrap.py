"""Resamples of counts: their mean, cells that stay open, and what cannot be resampled."""

import numpy as np
import pytest

from nuggetstream.ratings.fitting.bootstrap import FractionalCounts, cluster_weights, draw
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.options import Bootstrap
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.rated import rate
from tests.nuggetstream.ratings.xyz import HALF

NAN, INF = float("nan"), float("inf")
EVEN = np.array([[0.0, 4.0], [4.0, 0.0]])
MISSING = np.array([[0.0, NAN], [1.0, 0.0]])
ENDLESS = np.array([[0.0, INF], [INF, 0.0]])
NEGATIVE = np.array([[0.0, -1.0], [3.0, 0.0]])


def connected_points(seed: int, size: int = 5) -> np.ndarray:
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 20, (size, size)).astype(float)
    np.fill_diagonal(points, 0)
    return points


def test_resampling_keeps_the_mean_and_every_cell_open() -> None:
    wins, drawn = connected_points(3), np.zeros((5, 5))
    drawn[0, 1] = drawn[1, 0] = 6
    pairs = Pairs.of(wins, drawn)
    cells = draw(Bootstrap.BAYESIAN, pairs, 4000, np.random.default_rng(1)).cells
    assert cells.mean(axis=0) == pytest.approx(pairs.cells, rel=0.1)
    assert (cells[:, pairs.cells > 0] > 0).all()


def test_a_battle_of_next_to_no_weight_keeps_its_cell_open_and_an_empty_cell_stays_empty() -> None:
    """Half of all Gamma draws of shape 0.001 are too small for a number and become zero."""
    wins = np.array([[0, 0.001, 5], [0.001, 0, 0], [2, 0, 0]])
    drawn = draw(Bootstrap.BAYESIAN, Pairs.of(wins, np.zeros((3, 3))), 200, np.random.default_rng(0))
    assert drawn.connected().all()
    assert not drawn.drawn.any()


@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_every_cluster_weighs_one_on_average(bootstrap: Bootstrap) -> None:
    weights = cluster_weights(bootstrap, 4, 5000, np.random.default_rng(0))
    assert weights.mean(axis=0) == pytest.approx(np.ones(4), abs=0.06)
    if bootstrap is Bootstrap.MULTINOMIAL:
        assert (weights.sum(axis=1) == 4).all()


def test_one_battle_drawn_again_is_itself() -> None:
    pairs = Pairs.of(np.array([[0, 1.0], [0, 0]]), np.zeros((2, 2)))
    drawn = draw(Bootstrap.MULTINOMIAL, pairs, 9, np.random.default_rng(0))
    assert drawn.cells[:, :, 0].tolist() == [[1, 0, 0]] * 9


def test_both_bootstraps_agree_where_there_are_many_battles() -> None:
    wins = np.array([[0, 700.0, 500], [300, 0, 600], [500, 400, 0]])
    ratings = [rate(wins, np.zeros((3, 3)), seeded(), resamples=4000, bootstrap=kind) for kind in Bootstrap]
    assert ratings[0].low == pytest.approx(ratings[1].low, abs=2)
    assert ratings[0].high == pytest.approx(ratings[1].high, abs=2)
    assert ratings[1].unranked == 0


def test_weighted_battles_have_no_multinomial_resample() -> None:
    with pytest.raises(FractionalCounts):
        rate(np.array([[0.0, 1.5], [2.0, 0.0]]), np.zeros((2, 2)), seeded(), bootstrap=Bootstrap.MULTINOMIAL)


def test_a_multinomial_resample_has_as_many_battles() -> None:
    draws = draw(Bootstrap.MULTINOMIAL, Pairs.of(HALF.wins, HALF.ties + HALF.both_bad), 50, seeded())
    assert (draws.played.sum(axis=1) == 22).all()


@pytest.mark.parametrize("bootstrap", Bootstrap)
def test_what_cannot_be_resampled_is_refused(bootstrap: Bootstrap) -> None:
    for wins, resamples in ((MISSING, 5), (NEGATIVE, 5), (ENDLESS, 5), (EVEN, 0)):
        with pytest.raises(ValueError, match="resample needs"):
            draw(bootstrap, Pairs.of(wins, np.zeros((2, 2))), resamples, seeded())
    for clusters, resamples in ((0, 5), (3, 0)):
        with pytest.raises(ValueError, match="resamples of"):
            cluster_weights(bootstrap, clusters, resamples, seeded())
