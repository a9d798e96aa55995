"""Bradley-Terry strengths against evalica, choix and scikit-learn."""

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.linear_model import LogisticRegression

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.drawn import NAMES, tally_of
from tests.nuggetstream.ratings.other_libraries import BATTLES, Battles, columns, strengths


@given(BATTLES)
@settings(max_examples=60, deadline=None)
def test_evalica_fits_the_same_strengths(battles: Battles) -> None:
    theirs = evalica.bradley_terry(*columns(battles), tolerance=1e-13, limit=100_000).scores[list(NAMES)]
    # Only ratios mean anything in either: both are brought to a geometric mean of one.
    logits = np.log(theirs.to_numpy())
    assert strengths(battles) == pytest.approx(logits - logits.mean(), abs=1e-6)


@given(BATTLES)
@settings(max_examples=30, deadline=None)
def test_choix_fits_the_same_strengths_two_ways(battles: Battles) -> None:
    # choix knows no ties: a win is two wins, a tie one for each.
    data = []
    for a, b, vote in battles:
        i, j = NAMES.index(a), NAMES.index(b)
        data += {Vote.A: [(i, j)] * 2, Vote.B: [(j, i)] * 2, Vote.TIE: [(i, j), (j, i)]}[vote]
    ours = strengths(battles)
    optimised = choix.opt_pairwise(4, data, alpha=0.0, tol=1e-10)
    spectral = choix.ilsr_pairwise(4, data, tol=1e-10, max_iter=10_000)
    assert ours == pytest.approx(optimised - optimised.mean(), abs=1e-4)
    assert ours == pytest.approx(spectral - spectral.mean(), abs=1e-6)


@given(BATTLES)
@settings(max_examples=30, deadline=None)
def test_a_logistic_regression_without_penalty_fits_the_same_strengths(battles: Battles) -> None:
    rows, wins, weights = [], [], []
    for a, b, vote in battles:
        row = np.zeros(4)
        row[NAMES.index(a)], row[NAMES.index(b)] = 1, -1
        share = {Vote.A: 1.0, Vote.B: 0.0, Vote.TIE: 0.5}[vote]
        for won, weight in ((1, share), (0, 1 - share)):
            rows.append(row[1:])  # the first system is the zero of their scale
            wins.append(won)
            weights.append(weight)
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000)
    found = np.concatenate([[0.0], model.fit(rows, wins, sample_weight=weights).coef_[0]])
    assert strengths(battles) == pytest.approx(found - found.mean(), abs=1e-5)


@given(BATTLES)
@settings(max_examples=20, deadline=None)
def test_evalica_expects_of_every_system_the_points_that_it_took(battles: Battles) -> None:
    points = tally_of(battles).points(TiePolicy.HALF)
    expected = evalica.pairwise_scores(np.exp(strengths(battles)))
    assert ((points + points.T) * expected).sum(axis=1) == pytest.approx(points.sum(axis=1))
