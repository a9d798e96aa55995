"""Ratings against second implementations: evalica, choix, scikit-learn, and likelihoods written out."""

from math import exp, log

import choix
import evalica
import numpy as np
import pandas as pd
import pytest
from evalica import Winner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.bradley_terry import fit
from nuggetstream.ratings.elo import Games, tournaments
from nuggetstream.ratings.leaderboard import leaderboard
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.tally import Tally, TiePolicy
from nuggetstream.ratings.tie_models import fit_davidson, fit_rao_kupper

NAMES = "wxyz"
THEIRS = {Vote.A: Winner.X, Vote.B: Winner.Y, Vote.TIE: Winner.Draw}
CIRCLE = [("w", "x", Vote.A), ("x", "y", Vote.A), ("y", "z", Vote.A), ("w", "z", Vote.B)]
Battles = list[tuple[str, str, Vote]]

# A circle of wins ranks everybody; what is drawn on top is as lopsided as it likes.
BATTLES = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(list(THEIRS))).filter(
        lambda battle: battle[0] != battle[1]
    ),
    max_size=40,
).map(lambda drawn: CIRCLE + drawn)


def tally_of(battles: Battles) -> Tally:
    return Tally.count((*battle, 1) for battle in battles)


def strengths(battles: Battles) -> np.ndarray:
    return fit(tally_of(battles).points(TiePolicy.HALF))


def columns(battles: Battles) -> tuple[list[str], list[str], list[Winner]]:
    a, b, votes = zip(*battles, strict=True)
    return list(a), list(b), [THEIRS[vote] for vote in votes]


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
@settings(max_examples=40, deadline=None)
def test_evalica_counts_the_same_wins_and_ties(battles: Battles) -> None:
    a, b, winners = columns(battles)
    index = pd.Index(list(NAMES))
    theirs = evalica.matrices(index.get_indexer(a).tolist(), index.get_indexer(b).tolist(), winners, index)
    ours = tally_of(battles)
    assert (ours.wins == theirs.win_matrix).all()
    assert (ours.ties == theirs.tie_matrix).all()
    rates = evalica.average_win_rate(a, b, winners).scores[list(NAMES)]
    assert np.nanmean(ours.win_matrix(), axis=1) == pytest.approx(rates.to_numpy())


@given(BATTLES)
@settings(max_examples=20, deadline=None)
def test_evalica_expects_of_every_system_the_points_that_it_took(battles: Battles) -> None:
    points = tally_of(battles).points(TiePolicy.HALF)
    expected = evalica.pairwise_scores(np.exp(strengths(battles)))
    assert ((points + points.T) * expected).sum(axis=1) == pytest.approx(points.sum(axis=1))


@given(BATTLES, st.integers(0, 1000), st.sampled_from([4.0, 16.0, 32.0]))
@settings(max_examples=40, deadline=None)
def test_evalica_plays_the_same_elo_tournament(battles: Battles, seed: int, k: float) -> None:
    score = {Vote.A: 1.0, Vote.B: 0.0, Vote.TIE: 0.5}
    a, b = ([NAMES.index(battle[side]) for battle in battles] for side in (0, 1))
    games = Games(tuple(NAMES), np.array(a), np.array(b), np.array([score[vote] for *_, vote in battles]))
    order = np.random.default_rng(seed).permuted(np.arange(len(battles))[None], axis=1)[0]
    played = columns([battles[game] for game in order])
    theirs = evalica.elo(*played, initial=1000, k=k).scores[list(NAMES)]
    ours = tournaments(games, np.random.default_rng(seed), rounds=1, k=k)
    assert ours.rating == pytest.approx(theirs.to_numpy(), abs=1e-6)


def davidson(strength: np.ndarray, tie: float, i: int, j: int) -> tuple[float, float, float]:
    a, b = exp(strength[i]), exp(strength[j])
    drawn = tie * (a * b) ** 0.5
    return a / (a + b + drawn), b / (a + b + drawn), drawn / (a + b + drawn)


def rao_kupper(strength: np.ndarray, tie: float, i: int, j: int) -> tuple[float, float, float]:
    a, b = exp(strength[i]), exp(strength[j])
    first, second = a / (a + tie * b), b / (b + tie * a)
    return first, second, 1 - first - second


@pytest.mark.parametrize(
    ("model", "policy", "nothing", "probabilities"),
    [
        (fit_davidson, TiePolicy.DAVIDSON, 0.0, davidson),
        (fit_rao_kupper, TiePolicy.RAO_KUPPER, 1.0, rao_kupper),
    ],
)
@given(BATTLES)
@settings(max_examples=15, deadline=None)
def test_models_of_ties_maximise_the_likelihood_written_out(
    model, policy, nothing, probabilities, battles: Battles
) -> None:
    battles = [*battles, ("w", "y", Vote.TIE)]

    def cost(state: np.ndarray) -> float:
        total = 0.0
        for a, b, vote in battles:
            outcome = probabilities(state[:4], nothing + exp(state[4]), NAMES.index(a), NAMES.index(b))
            total -= log(outcome[(Vote.A, Vote.B, Vote.TIE).index(vote)])
        return total

    tally = tally_of(battles)
    pairs = Pairs.of(tally.wins, tally.drawn(policy))
    theta, tie = model(pairs.counted(pairs.cells[None]))
    ours = np.append(theta[0], log(tie[0] - nothing))
    theirs = minimize(cost, np.zeros(5), method="BFGS", options={"gtol": 1e-7}).x
    assert cost(ours) <= cost(theirs) + 1e-9
    assert ours[:4] == pytest.approx(theirs[:4] - theirs[:4].mean(), abs=2e-3)
    assert ours[4] == pytest.approx(theirs[4], abs=2e-3)


def test_a_board_stands_where_evalica_puts_it() -> None:
    rng = np.random.default_rng(12)
    battles = CIRCLE + [
        (NAMES[i], NAMES[(i + step) % 4], list(THEIRS)[kind])
        for i, step, kind in rng.integers((0, 1, 0), (4, 4, 3), (300, 3))
    ]
    theirs = evalica.bradley_terry(*columns(battles), tolerance=1e-13, limit=100_000).scores
    elo = 400 * np.log10(theirs / np.exp(np.log(theirs).mean())) + 1000
    board = leaderboard(tally_of(battles), np.random.default_rng(0), resamples=50)
    assert {s.system: s.rating for s in board.standings} == pytest.approx(elo.to_dict(), abs=1e-4)
    assert [s.system for s in board.standings] == list(elo.sort_values(ascending=False).index)
