"""Standard errors by hand, against the bootstrap, against truth, and where there are none."""

import numpy as np
import pytest
from scipy.special import expit

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots, clustered_covariance
from nuggetstream.ratings.fitting.bradley_terry import fit, fit_pairs
from nuggetstream.ratings.fitting.intervals import ELO_PER_LOGIT
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.sandwich import (
    Undetermined,
    covariance,
    gap_variance,
    information,
    normal_differences,
    normal_ratings,
)
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.rated import rate

WINS = np.array([[0, 60.0, 50, 44], [40, 0, 60, 50], [30, 45, 0, 70], [20, 25, 30, 0]])
DRAWN = np.array([[0, 20.0, 0, 8], [20, 0, 0, 0], [0, 0, 0, 30], [8, 0, 30, 0]])
PAIRS = Pairs.of(WINS, DRAWN)
THETA = fit_pairs(PAIRS)
NAN, INF = float("nan"), float("inf")
NONE = np.zeros((0, 0))
ISLANDS = np.kron(np.eye(2), np.array([[0.0, 2.0], [1.0, 0.0]]))  # w-x and y-z never met
TWO = np.eye(2)
BATTLES = [Ballot(*pair, vote) for pair in ("wx", "yz") for vote in (Vote.A, Vote.B)]


def ballots_of(wins: np.ndarray, drawn: np.ndarray, copies: int = 1) -> Ballots:
    votes, names = [], "wxyz"
    for i, j in np.argwhere(wins > 0):
        votes += [(names[i], names[j], Vote.A)] * int(wins[i, j])
    for i, j in np.argwhere(np.triu(drawn) > 0):
        votes += [(names[i], names[j], Vote.TIE)] * int(drawn[i, j])
    return Ballots.of(Ballot(*vote, cluster=str(n)) for n, vote in enumerate(votes) for _ in range(copies))


def test_without_ties_two_systems_have_the_textbook_error_of_a_sample() -> None:
    """1 / won + 1 / lost, and n / (n - 1), as the share that was estimated takes a degree of freedom."""
    pairs = Pairs.of(np.array([[0, 30.0], [10, 0]]), np.zeros((2, 2)))
    expected = (1 / 30 + 1 / 10) * 40 / 39
    assert gap_variance(covariance(fit_pairs(pairs), pairs))[0, 1] == pytest.approx(expected)


def test_ties_narrow_the_sandwich_and_not_the_textbook_error() -> None:
    pairs = Pairs.of(np.array([[0, 5.0], [5, 0]]), np.array([[0, 90.0], [90, 0]]))
    theta = fit_pairs(pairs)
    naive = np.linalg.pinv(information(theta, pairs))
    expected = 0.1 * gap_variance(naive)[0, 1] * 100 / 99
    assert gap_variance(covariance(theta, pairs))[0, 1] == pytest.approx(expected)


def test_the_bootstrap_says_the_same() -> None:
    ratings = rate(WINS, DRAWN, np.random.default_rng(0), resamples=6000)
    normal = normal_ratings(THETA, covariance(THETA, PAIRS))
    assert normal.rating == pytest.approx(ratings.rating)
    assert normal.high - normal.low == pytest.approx(ratings.high - ratings.low, rel=0.06)


def test_single_battles_as_clusters_say_the_same_as_counts() -> None:
    ballots = ballots_of(WINS, DRAWN)
    assert clustered_covariance(THETA, ballots) == pytest.approx(covariance(THETA, PAIRS))


def test_ten_copies_under_one_key_are_one_vote() -> None:
    alone, copied = ballots_of(WINS, DRAWN), ballots_of(WINS, DRAWN, copies=10)
    assert clustered_covariance(THETA, copied) == pytest.approx(clustered_covariance(THETA, alone))


def test_one_cluster_has_no_error() -> None:
    ballots = Ballots.of([Ballot("x", "y", Vote.A, cluster="q"), Ballot("x", "y", Vote.B, cluster="q")])
    with pytest.raises(ValueError, match="one cluster"):
        clustered_covariance(np.zeros(2), ballots)


def test_a_model_of_ties_has_no_sandwich_here() -> None:
    with pytest.raises(ValueError, match="half a win"):
        clustered_covariance(THETA, ballots_of(WINS, DRAWN), TiePolicy.DAVIDSON)


def test_the_anchor_is_certain_and_differences_do_not_care_about_it() -> None:
    matrix = covariance(THETA, PAIRS)
    ratings = normal_ratings(THETA, matrix, anchor=(2, 1114.0))
    assert (ratings.low[2], ratings.rating[2], ratings.high[2]) == (1114, 1114, 1114)
    between = normal_differences(THETA, matrix)
    assert ratings.high[0] - 1114 == pytest.approx(between.high[0, 2])
    assert between.above[0, 3] > 0.99
    assert between.above[0, 0] == 0


def test_the_sandwich_covers_the_truth_about_as_often_as_it_says() -> None:
    rng, truth, inside, runs = np.random.default_rng(2), np.array([0.5, 0.0, -0.5]), 0, 400
    met = np.array([[0, 80.0, 60], [0, 0, 100], [0, 0, 0]])
    for _ in range(runs):
        won = rng.binomial(met.astype(int), expit(truth[:, None] - truth[None, :])).astype(float)
        wins = won + (met - won).T
        theta = fit(wins)
        between = normal_differences(theta, covariance(theta, Pairs.of(wins, np.zeros((3, 3)))))
        inside += between.low[0, 2] <= ELO_PER_LOGIT * 1.0 <= between.high[0, 2]
    assert 0.92 <= inside / runs <= 0.98


def test_the_clustered_bootstrap_and_the_clustered_sandwich_agree() -> None:
    ballots = ballots_of(WINS, DRAWN, copies=3)
    draws = fit_pairs(
        ballots.resample(np.arange(4), TiePolicy.HALF, Bootstrap.BAYESIAN, 6000, np.random.default_rng(0))
    )
    assert draws.var(axis=0) == pytest.approx(np.diag(clustered_covariance(THETA, ballots)), rel=0.1)


def test_normal_differences_by_hand() -> None:
    between = normal_differences(np.array([0.3, 0.0, -0.1]), np.diag([0.09, 0.16, 0.0]), level=0.9)
    assert between.gap[0] == pytest.approx(ELO_PER_LOGIT * np.array([0, 0.3, 0.4]))
    assert between.gap == pytest.approx(-between.gap.T)
    reach = 1.644853627 * np.array([0.5, 0.3])  # errors 0.5 and 0.3
    assert between.low[0, 1:] == pytest.approx(ELO_PER_LOGIT * (np.array([0.3, 0.4]) - reach))
    assert between.high[0, 1:] == pytest.approx(ELO_PER_LOGIT * (np.array([0.3, 0.4]) + reach))
    assert between.above[0, 1] == pytest.approx(0.7257468822)  # Φ(0.3 / 0.5)
    assert between.above[1, 0] == pytest.approx(1 - 0.7257468822)


def test_two_clusters_are_enough_for_an_error() -> None:
    votes = [Ballot("x", "y", v, cluster=q) for q in "pq" for v in (Vote.A, Vote.B)]
    votes.append(Ballot("x", "y", Vote.A, cluster="p"))
    found = clustered_covariance(fit(np.array([[0, 3.0], [2, 0]])), Ballots.of(votes))
    # cluster p pushes 2 · 0.4 - 0.6 = 0.2 and q 0.4 - 0.6 = -0.2; the curvature is 5 · 0.6 · 0.4 = 1.2, of
    # which p has three fifths and q two
    assert gap_variance(found)[0, 1] == pytest.approx((0.2**2 / 0.4 + 0.2**2 / 0.6) / 1.2**2)


def test_islands_have_no_standard_error() -> None:
    pairs, votes = Pairs.of(ISLANDS, np.zeros((4, 4))), Ballots.of(BATTLES)
    with pytest.raises(Undetermined, match="islands"):
        covariance(np.zeros(4), pairs)
    with pytest.raises(Undetermined, match="islands"):
        clustered_covariance(np.zeros(4), votes)
    for nothing in (Ballots.of([]), Ballots.of(BATTLES[:1])):
        with pytest.raises(Undetermined, match="one cluster"):
            clustered_covariance(np.zeros(len(nothing.systems)), nothing)
    with pytest.raises(ValueError, match="gives no interval"):
        normal_ratings(np.zeros(2), TWO * NAN)
    assert normal_ratings(np.zeros(0), NONE).rating.tolist() == []


def test_equal_strengths_without_error_are_not_above_each_other() -> None:
    between = normal_differences(np.zeros(2), np.zeros((2, 2)))
    assert between.above.tolist() == [[0, 0], [0, 0]]
