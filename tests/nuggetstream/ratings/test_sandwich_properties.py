"""Standard errors depend neither on names nor on sides nor on the scale of weights."""

import numpy as np
import pytest
from hypothesis import given

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import clustered_covariance
from nuggetstream.ratings.fitting.bradley_terry import fit, fit_pairs
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import covariance
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import CIRCLE, NAMES, SEEDS, ballots_of, few, mirrored, seeded, tally_of


@given(SEEDS)
@few
def test_standard_errors_do_not_care_about_names_sides_or_scale_of_weights(seed: int) -> None:
    rng = seeded(seed)
    order = rng.permutation(4)
    wins = rng.integers(1, 9, (4, 4)) * (1 - np.eye(4))
    drawn = np.triu(rng.integers(0, 5, (4, 4)), 1).astype(float)
    pairs, moved = (
        Pairs.of(w, d + d.T)
        for w, d in ((wins, drawn), (wins[np.ix_(order, order)], (drawn + drawn.T)[np.ix_(order, order)] / 2))
    )
    matrix, renamed = covariance(fit_pairs(pairs), pairs), covariance(fit_pairs(moved), moved)
    assert renamed == pytest.approx(matrix[np.ix_(order, order)], abs=1e-7)
    votes = CIRCLE + [
        (NAMES[i], NAMES[(i + s) % 4], list(Vote)[v]) for i, s, v in rng.integers(0, 3, (40, 3))
    ]
    votes = [vote for vote in votes if vote[0] != vote[1]]
    theta = fit(tally_of(votes).points(TiePolicy.HALF))
    once = clustered_covariance(theta, ballots_of(votes))
    for same in (ballots_of(mirrored(votes)), ballots_of(votes, weight=3.0)):
        assert clustered_covariance(theta, same) == pytest.approx(once)
    assert np.linalg.eigvalsh(once).min() > -1e-9
