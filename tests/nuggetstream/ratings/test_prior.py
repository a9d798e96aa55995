"""The prior of pseudo-battles: by hand, by a second implementation, and what must hold for any counts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import beta

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots, linearised
from nuggetstream.ratings.fitting.bootstrap import draw
from nuggetstream.ratings.fitting.bradley_terry import fit_pairs
from nuggetstream.ratings.fitting.estimate import fit
from nuggetstream.ratings.fitting.pairs import Pairs
from nuggetstream.ratings.fitting.prior import (
    PHANTOM,
    ballots_with_prior,
    covariance_without_phantom,
    with_drawn_prior,
    with_prior,
    without_phantom,
)
from nuggetstream.ratings.fitting.sandwich import covariance, gap_variance
from nuggetstream.ratings.options import Bootstrap
from nuggetstream.ratings.ties import TiePolicy

STRENGTHS = st.floats(0.05, 20)
any_counts = settings(max_examples=60, deadline=None)


@st.composite
def counts(draw: st.DrawFn) -> Pairs:
    """Counts of up to six systems; mostly not linked, sometimes without a single battle."""
    size = draw(st.integers(1, 6))
    cells = st.integers(0, 4)
    wins, drawn = np.zeros((size, size)), np.zeros((size, size))
    for i in range(size):
        for j in range(i):
            wins[i, j], wins[j, i], drawn[i, j] = draw(cells), draw(cells), draw(st.sampled_from([0, 0, 3]))
            drawn[j, i] = drawn[i, j]
    return Pairs.of(wins, drawn)


def two(won: float, lost: float, drawn: float = 0.0) -> Pairs:
    return Pairs(2, np.array([0]), np.array([1]), np.array([won]), np.array([lost]), np.array([drawn]))


def rated(pairs: Pairs, strength: float) -> np.ndarray:
    return without_phantom(fit_pairs(with_prior(pairs, strength)))


def penalty(theta: np.ndarray) -> float:
    return float(-(log_expit(theta) + log_expit(-theta)).sum())


def rated_by_optimisation(pairs: Pairs, strength: float) -> np.ndarray:
    """The penalised likelihood itself, with the phantom at zero and no system of that name."""

    def loss(theta: np.ndarray) -> float:
        gap = theta[pairs.first] - theta[pairs.second]
        told = pairs.scored * log_expit(gap) + (pairs.played - pairs.scored) * log_expit(-gap)
        return float(strength / 2 * penalty(theta) - told.sum())

    theta = minimize(loss, np.zeros(pairs.size), method="BFGS", options={"gtol": 1e-9}).x
    return theta - theta.mean()


def test_four_wins_and_no_loss_are_a_finite_gap() -> None:
    """With u the odds against the phantom: 4 / (1 + u²) = u / (1 + u) - 1 / 2, so u³ - u² - 7 u - 9 = 0."""
    (odds,) = (root.real for root in np.roots([1, -1, -7, -9]) if abs(root.imag) < 1e-9 and root.real > 0)
    theta = rated(two(4, 0), strength=1)
    assert np.exp(theta[0] - theta[1]) == pytest.approx(odds**2)
    assert odds == pytest.approx(3.62, abs=0.005)  # 47.4 - 13.1 - 25.3 - 9 = 0


def test_five_wins_at_strength_two_are_odds_of_nine() -> None:
    theta = fit_pairs(with_prior(two(5, 0), strength=2))
    assert np.exp(theta[0] - theta[2]) == pytest.approx(3)  # to the phantom
    assert np.exp(theta[0] - theta[1]) == pytest.approx(9)


@pytest.mark.slow
@given(counts(), STRENGTHS)
@any_counts
def test_the_penalised_likelihood_has_the_same_maximum(pairs: Pairs, strength: float) -> None:
    assert rated(pairs, strength) == pytest.approx(rated_by_optimisation(pairs, strength), abs=2e-4)


@given(counts(), STRENGTHS)
@any_counts
def test_points_taken_are_points_expected(pairs: Pairs, strength: float) -> None:
    """The equations of the maximum, with the phantom as one more opponent."""
    theta = fit_pairs(with_prior(pairs, strength))
    chance = expit(theta[:, None] - theta)
    played, points = np.zeros((2, pairs.size, pairs.size))
    played[pairs.first, pairs.second] = played[pairs.second, pairs.first] = pairs.played
    points[pairs.first, pairs.second] = pairs.scored
    points[pairs.second, pairs.first] = pairs.played - pairs.scored
    expected = (played * chance[:-1, :-1]).sum(axis=1) + strength * chance[:-1, -1]
    assert points.sum(axis=1) + strength / 2 == pytest.approx(expected, abs=1e-7)


@pytest.mark.slow
@given(counts(), STRENGTHS)
@any_counts
def test_every_policy_has_a_finite_fit_for_any_counts(pairs: Pairs, strength: float) -> None:
    for policy in TiePolicy:
        theta, tie = fit(with_prior(pairs, strength), policy)
        assert np.isfinite(theta).all()
        assert tie is None or np.isfinite(tie)


@given(counts(), STRENGTHS, st.floats(1.1, 5))
@any_counts
def test_a_stronger_prior_pulls_closer_to_the_average_opponent(
    pairs: Pairs, strength: float, factor: float
) -> None:
    weak, strong = (fit_pairs(with_prior(pairs, s)) for s in (strength, strength * factor))
    assert penalty(strong[:-1] - strong[-1]) <= penalty(weak[:-1] - weak[-1]) + 1e-9


@pytest.mark.slow
@given(counts(), STRENGTHS, st.randoms())
@any_counts
def test_the_order_of_systems_does_not_matter(pairs: Pairs, strength: float, chance: object) -> None:
    order = np.arange(pairs.size)
    chance.shuffle(order)
    wins, drawn = np.zeros((2, pairs.size, pairs.size))
    moved_first, moved_second = order[pairs.first], order[pairs.second]
    wins[moved_first, moved_second], wins[moved_second, moved_first] = pairs.won, pairs.lost
    drawn[moved_first, moved_second] = drawn[moved_second, moved_first] = pairs.drawn
    moved = rated(Pairs.of(wins, drawn), strength)
    assert moved[order] == pytest.approx(rated(pairs, strength), abs=1e-8)


@given(counts(), STRENGTHS)
@any_counts
def test_the_phantom_is_an_average_opponent(pairs: Pairs, strength: float) -> None:
    theta = fit_pairs(with_prior(pairs, strength))
    assert expit(theta[:-1] - theta[-1]).mean() == pytest.approx(0.5)


def test_the_prior_vanishes_on_a_linked_board() -> None:
    wins = np.array([[0, 6.0, 2], [3, 0, 5], [1, 4, 0]])
    pairs = Pairs.of(wins, np.zeros((3, 3)))
    apart = [np.abs(rated(pairs, s) - fit_pairs(pairs)).max() for s in (1.0, 0.1, 0.01, 0.001)]
    assert apart[0] > 0.01
    assert apart[3] < 1e-4
    assert all(later == pytest.approx(sooner / 10, rel=0.2) for sooner, later in pairwise(apart))


def test_islands_are_centred_at_the_same_strength() -> None:
    wins = np.zeros((4, 4))
    wins[0, 1], wins[1, 0], wins[2, 3], wins[3, 2] = 3, 1, 3, 1
    theta = rated(Pairs.of(wins, np.zeros((4, 4))), strength=1)
    assert theta[:2] == pytest.approx(theta[2:])
    assert 0 < theta[0] - theta[1] < np.log(3)


def test_a_batch_gets_the_prior_in_every_data_set() -> None:
    batch = two(0, 0).counted(np.array([[[4.0], [0], [0]], [[1.0], [3], [2]], [[0.0], [0], [1]]]))
    together = without_phantom(fit_pairs(with_prior(batch, 1)))
    alone = [rated(batch.slice(np.intp(row)), 1) for row in range(3)]
    assert together == pytest.approx(np.array(alone))


def test_a_drawn_prior_is_the_posterior_of_its_beta_distribution() -> None:
    """Without a battle, the chance against the phantom has the prior's own distribution."""
    nothing = Pairs.of(np.zeros((20_000, 1, 1)), np.zeros((20_000, 1, 1)))
    theta = fit_pairs(with_drawn_prior(nothing, 3.0, np.random.default_rng(0)))
    chance = expit(theta[:, 0] - theta[:, 1])
    levels = [0.025, 0.25, 0.5, 0.75, 0.975]
    assert np.quantile(chance, levels) == pytest.approx(beta(1.5, 1.5).ppf(levels), abs=0.012)


def test_a_drawn_prior_is_what_the_bootstrap_makes_of_the_pseudo_battles() -> None:
    pairs, strength = two(9, 2, 3), 2.0
    ours = with_drawn_prior(draw(Bootstrap.BAYESIAN, pairs, 4000, np.random.default_rng(1)), strength,
                            np.random.default_rng(2))  # fmt: skip
    theirs = draw(Bootstrap.BAYESIAN, with_prior(pairs, strength), 4000, np.random.default_rng(3))
    gaps = [np.diff(fit_pairs(draws)[:, :2]).ravel() for draws in (ours, theirs)]
    assert np.quantile(gaps[0], [0.05, 0.5, 0.95]) == pytest.approx(
        np.quantile(gaps[1], [0.05, 0.5, 0.95]), abs=0.08
    )


def test_the_same_seed_draws_the_same_prior() -> None:
    draws = [with_drawn_prior(two(1, 0), 0.1, np.random.default_rng(7)).cells for _ in range(2)]
    assert (draws[0] == draws[1]).all()


def test_resamples_of_an_undefeated_system_are_finite() -> None:
    resampled = draw(Bootstrap.BAYESIAN, two(4, 0), 300, np.random.default_rng(0))
    theta = fit_pairs(with_drawn_prior(resampled, 1.0, np.random.default_rng(1)))
    assert np.isfinite(theta).all()


def test_the_sandwich_of_a_system_without_battles_is_that_of_its_pseudo_battles() -> None:
    """Strength pseudo-battles at even odds: the variance of log odds is 4 / strength."""
    pairs = with_prior(Pairs.of(np.zeros((2, 2)), np.zeros((2, 2))), strength=2)
    between = covariance_without_phantom(covariance(fit_pairs(pairs), pairs, given=2))
    assert gap_variance(between)[0, 1] == pytest.approx(4 / 2 + 4 / 2)


def test_the_covariance_is_of_strengths_with_mean_zero() -> None:
    pairs = with_prior(Pairs.of(np.array([[0, 4.0, 1], [0, 0, 2], [0, 0, 0]]), np.zeros((3, 3))), 1)
    whole = covariance(fit_pairs(pairs), pairs)
    between = covariance_without_phantom(whole)
    assert between.sum(axis=0) == pytest.approx(0, abs=1e-9)
    assert gap_variance(between) == pytest.approx(gap_variance(whole)[:-1, :-1])


def test_ballots_have_the_same_fit_and_at_strength_two_the_same_sandwich() -> None:
    votes = [*[("x", "y", Vote.A)] * 5, ("y", "z", Vote.A), ("x", "z", Vote.B), ("x", "z", Vote.TIE)]
    ballots = Ballots.of(Ballot(*vote) for vote in votes)
    for strength in (0.5, 2.0):
        widened = ballots_with_prior(ballots, strength)
        assert widened.systems == ("x", "y", "z", PHANTOM)
        pairs = Pairs.of(widened.tally.wins, widened.tally.drawn(TiePolicy.HALF))
        plain = Pairs.of(ballots.tally.wins, ballots.tally.drawn(TiePolicy.HALF))
        theta = fit_pairs(pairs)
        assert without_phantom(theta) == pytest.approx(rated(plain, strength))
    by_counts = covariance(theta, with_prior(plain, 2.0), given=3)
    assert linearised(theta, widened, given=6).covariance() == pytest.approx(by_counts)


def test_a_system_may_not_have_the_name_of_the_phantom() -> None:
    with pytest.raises(ValueError, match="phantom opponent"):
        ballots_with_prior(Ballots.of([Ballot(PHANTOM, "x", Vote.A)]), 1)


@pytest.mark.parametrize("strength", [0, -1, np.inf, np.nan])
def test_a_prior_without_strength_is_an_error(strength: float) -> None:
    for call in (
        lambda: with_prior(two(1, 0), strength),
        lambda: with_drawn_prior(two(1, 0), strength, np.random.default_rng(0)),
        lambda: ballots_with_prior(Ballots.of([Ballot("x", "y", Vote.A)]), strength),
    ):
        with pytest.raises(ValueError, match="leave it out"):
            call()


def test_intervals_with_the_prior_cover_the_truth() -> None:
    """Three battles per pair and true strengths spread like the prior: 95% intervals hold 93% or more."""
    rng, size, hits = np.random.default_rng(5), 6, []
    first, second = np.triu_indices(size, 1)
    for _ in range(120):
        truth = rng.normal(0, 1, size)
        won = rng.binomial(3, expit(truth[first] - truth[second])).astype(float)
        pairs = with_prior(Pairs(size, first, second, won, 3 - won, np.zeros(len(won))), 1)
        theta = fit_pairs(pairs)
        error = np.sqrt(np.diag(covariance_without_phantom(covariance(theta, pairs))))
        hits.append(np.abs(without_phantom(theta) - truth + truth.mean()) <= 1.96 * error)
    assert np.mean(hits) > 0.93
