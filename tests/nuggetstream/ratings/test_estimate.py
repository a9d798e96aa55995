"""Estimates with their resamples: how many, how precise, and which cannot be ranked."""

import numpy as np
import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting import estimate as estimating
from nuggetstream.ratings.fitting.ballots import Ballots
from nuggetstream.ratings.fitting.bootstrap import draw
from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.estimate import estimate
from nuggetstream.ratings.fitting.newton import DRAWN, NotConverged
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.fitting.votes import Counted, mixed
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import seeded
from tests.nuggetstream.ratings.rated import rate
from tests.nuggetstream.ratings.xyz import HALF, ballots_of_xyz

FOUR = Tally.count([("x", "y", Vote.A, 1), ("x", "y", Vote.B, 1), ("x", "y", Vote.TIE, 2)])


@pytest.mark.parametrize(
    ("policy", "unranked"),
    [
        (TiePolicy.HALF, 2 / 4**4),  # four wins, or four losses
        (TiePolicy.DAVIDSON, 2 * (3 / 4) ** 4 - (2 / 4) ** 4),  # no win or no loss, whatever is tied
        (TiePolicy.RAO_KUPPER, 2 * (3 / 4) ** 4 - (2 / 4) ** 4),
    ],
)
def test_a_tie_links_two_systems_unless_it_is_an_outcome_of_its_own(
    policy: TiePolicy, unranked: float
) -> None:
    rng, pair = np.random.default_rng(0), np.arange(2)
    found = estimate(Counted(FOUR), pair, rng, policy=policy, bootstrap=Bootstrap.MULTINOMIAL, resamples=1000)
    assert found.unranked / 1000 == pytest.approx(unranked, abs=0.05)
    assert len(found.draws) == 1000 - found.unranked


def test_resamples_drawn_in_parts_are_as_many_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimating, "_CHUNK", 3 * 1 * 7)  # seven resamples of one pair at a time
    found = estimate(Counted(FOUR), np.arange(2), np.random.default_rng(0), resamples=20)
    assert (found.draws.shape, found.unranked) == ((20, 2), 0)
    assert len(np.unique(found.draws[:, 0])) == 20


def test_resamples_without_a_rating_are_counted_and_open_the_interval() -> None:
    """One loss in ten: drawn with replacement it is missing from about a third of the resamples."""
    wins = np.array([[0.0, 9.0], [1.0, 0.0]])
    ratings = rate(wins, np.zeros((2, 2)), seeded(), resamples=2000, bootstrap=Bootstrap.MULTINOMIAL)
    assert ratings.unranked / 2000 == pytest.approx(0.9**10, abs=0.04)
    assert np.isinf(ratings.high).all()
    assert np.isinf(ratings.low).all()
    assert ratings.probability_first.sum() == pytest.approx(1 - ratings.unranked / 2000)


def test_chunks_of_resamples_are_all_there() -> None:
    strengths = estimate(Ballots.of(ballots_of_xyz(cluster=True)), np.arange(3), seeded(), resamples=7)
    assert strengths.draws.shape == (7, 3)


def test_resamples_are_fitted_precisely_enough() -> None:
    pairs = Pairs.of(HALF.wins, HALF.ties + HALF.both_bad)
    draws = draw(Bootstrap.BAYESIAN, pairs, 300, seeded())
    quick = fit_pairs(draws, start=fit_pairs(pairs), precision=DRAWN)
    assert quick == pytest.approx(fit_pairs(draws), abs=1e-5)


def test_fewer_than_two_systems_are_no_group_to_estimate() -> None:
    votes = mixed([("people", Tally.count([("w", "x", Vote.TIE, 1)]), 1.0)])
    for group in ([], [0]):
        with pytest.raises(NotConverged, match="at least two"):
            estimate(votes, np.array(group, dtype=np.intp), seeded())
