"""Standard errors and intervals against slower ways of getting them: sums over single battles, numeric
derivatives of the estimating equations, other libraries."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binomtest, norm
from sklearn.linear_model import LogisticRegression

from nuggetstream.ratings.ballots import Ballot, Ballots
from nuggetstream.ratings.bradley_terry import BradleyTerry, fit_pairs
from nuggetstream.ratings.newton import Model
from nuggetstream.ratings.pairs import Pairs
from nuggetstream.ratings.prediction_powered import Judged, ratings, win_rate
from nuggetstream.ratings.sampling import battles_needed, most_informative
from nuggetstream.ratings.sandwich import clustered_covariance, covariance, gap_variance, information
from nuggetstream.ratings.style_control import control
from nuggetstream.ratings.tally import TiePolicy
from nuggetstream.ratings.tie_models import Davidson, RaoKupper
from nuggetstream.statistics.proportion import wilson

NAMES = "wxyz"
SEEDS = st.integers(0, 10_000)
Scores = Callable[[np.ndarray], np.ndarray]  # parameters -> one row of scores per vote


def votes_of(seed: int, count: int = 120) -> Ballots:
    """Weighted votes, some of them soft, on a few queries; a circle makes sure that everybody is ranked."""
    rng = np.random.default_rng(seed)
    votes = [Ballot(NAMES[i], NAMES[(i + 1) % 4], 1.0, cluster=f"query {i}") for i in range(4)]
    for i, step in rng.integers((0, 1), (4, 4), (count, 2)):
        outcome = float(rng.choice([0, 0.25, 0.5, 1]))
        weight, query = float(rng.choice([0.5, 1, 2])), f"query {rng.integers(9)}"
        votes.append(Ballot(NAMES[i], NAMES[(i + step) % 4], outcome, weight, query))
    return Ballots.of(votes)


def slopes(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Numeric Jacobian: one column per parameter."""
    moves = np.eye(len(at)) * step
    return np.stack([(function(at + move) - function(at - move)) / (2 * step) for move in moves], axis=-1)


def sandwich_of(scores: Scores, at: np.ndarray, cluster: np.ndarray | None = None) -> np.ndarray:
    """J⁺ B J⁺ᵀ with J the numeric Jacobian of the summed scores and B summed over clusters one by one."""
    each = scores(at)
    groups = np.arange(len(each)) if cluster is None else cluster
    middle = np.zeros((len(at), len(at)))
    for name in np.unique(groups):
        together = sum(each[v] for v in range(len(each)) if groups[v] == name)
        middle += np.outer(together, together)
    bread = np.linalg.pinv(slopes(lambda x: scores(x).sum(axis=0), at), rcond=1e-7)
    return np.asarray(bread @ middle @ bread.T)


def ends_of(votes: Ballots, size: int = 4) -> np.ndarray:
    """(N, K) +1 for A and -1 for B."""
    ends = np.zeros((len(votes.a), size))
    ends[np.arange(len(ends)), votes.a], ends[np.arange(len(ends)), votes.b] = 1, -1
    return ends


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_sandwich_is_the_one_of_the_estimating_equations(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins, drawn = rng.integers(1, 9, (4, 4)).astype(float), np.triu(rng.integers(0, 5, (4, 4)), 1)
    np.fill_diagonal(wins, 0)
    pairs = Pairs.of(wins, (drawn + drawn.T).astype(float))
    theta = fit_pairs(pairs)
    rows = [  # battle by battle
        (i, j, score)
        for i, j, cells in zip(pairs.first, pairs.second, pairs.cells.T, strict=True)
        for count, score in zip(cells, (1.0, 0.0, 0.5), strict=True)
        for _ in range(int(count))
    ]

    def scores(state: np.ndarray) -> np.ndarray:
        found = np.zeros((len(rows), 4))
        for row, (i, j, score) in enumerate(rows):
            push = score - 1 / (1 + np.exp(state[j] - state[i]))
            found[row, i], found[row, j] = push, -push
        return found

    assert covariance(theta, pairs) == pytest.approx(sandwich_of(scores, theta), rel=1e-4, abs=1e-6)
    assert information(theta, pairs) == pytest.approx(
        -slopes(lambda x: scores(x).sum(axis=0), theta), abs=1e-5
    )


@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_the_clustered_sandwich_sums_the_scores_of_a_cluster_first(seed: int) -> None:
    votes = votes_of(seed)
    theta = fit_pairs(Pairs.of(votes.tally.wins, votes.tally.drawn(TiePolicy.HALF)))

    def scores(state: np.ndarray) -> np.ndarray:
        return (votes.weight * (votes.score - expit(ends_of(votes) @ state)))[:, None] * ends_of(votes)

    count = votes.clusters
    expected = sandwich_of(scores, theta, votes.cluster) * count / (count - 1)
    assert clustered_covariance(theta, votes) == pytest.approx(expected, rel=1e-4, abs=1e-6)


@given(SEEDS)
@settings(max_examples=12, deadline=None)
def test_style_control_is_a_logistic_regression_with_a_clustered_sandwich(seed: int) -> None:
    votes = votes_of(seed)
    style = np.random.default_rng(seed).normal(size=(len(votes.a), 2)) * (1, 5)
    found = control(votes, style, ["length", "bold"])
    unit = np.sqrt((votes.weight[:, None] * style**2).sum(axis=0) / votes.weight.sum())
    design = np.hstack([ends_of(votes), style / unit])
    model = LogisticRegression(C=np.inf, fit_intercept=False, solver="newton-cg", tol=1e-10, max_iter=1000)
    model.fit(
        np.vstack([design, design])[:, 1:],  # the first system is the zero of their scale
        np.repeat([1, 0], len(design)),
        sample_weight=np.concatenate([votes.weight * votes.score, votes.weight * (1 - votes.score)]),
    )
    strength, style_of = np.append(0.0, model.coef_[0][:3]), model.coef_[0][3:]
    assert found.theta == pytest.approx(strength - strength.mean(), abs=1e-4)
    assert [c.value for c in found.coefficients] == pytest.approx(style_of.tolist(), abs=1e-4)
    assert [c.deviation for c in found.coefficients] == pytest.approx(unit.tolist())

    def scores(state: np.ndarray) -> np.ndarray:
        return (votes.weight * (votes.score - expit(design @ state)))[:, None] * design

    at = np.append(found.theta, [c.value for c in found.coefficients])
    count = votes.clusters
    errors = np.sqrt(np.diag(sandwich_of(scores, at, votes.cluster)) * count / (count - 1))
    assert [c.error for c in found.coefficients] == pytest.approx(errors[4:].tolist(), rel=1e-3)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(errors[:4], rel=1e-3)


def log_likelihood(model: Model, gap: np.ndarray, tie: float) -> float:
    """Of one data set, from the probabilities of the three outcomes."""
    if isinstance(model, BradleyTerry):
        p = expit(gap)
        return float((model.scored[0] * np.log(p) + (model.played - model.scored)[0] * np.log(1 - p)).sum())
    won, lost, drawn = model.pairs.cells[0]
    if isinstance(model, Davidson):
        parts = np.stack([np.exp(gap / 2), np.exp(-gap / 2), np.full(len(gap), np.exp(tie))])
        first, second, equal = parts / parts.sum(axis=0)
    else:
        first, second = 1 / (1 + np.exp(tie - gap)), 1 / (1 + np.exp(tie + gap))
        equal = 1 - first - second
    return float((won * np.log(first) + lost * np.log(second) + drawn * np.log(equal)).sum())


@pytest.mark.parametrize("kind", ["bradley-terry", "davidson", "rao-kupper"])
@given(SEEDS)
@settings(max_examples=15, deadline=None)
def test_every_derivative_is_that_of_the_log_likelihood(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    cells = rng.integers(1, 9, (1, 3, 3)).astype(float)
    pairs = Pairs(3, first, second, *np.moveaxis(cells, 1, 0))
    model: Model = {
        "bradley-terry": BradleyTerry(3, first, second, pairs.scored, pairs.played),
        "davidson": Davidson(3, first, second, pairs),
        "rao-kupper": RaoKupper(3, first, second, pairs),
    }[kind]
    at = np.append(rng.normal(size=3), rng.uniform(0.3, 1.5))

    def value(x: np.ndarray) -> np.ndarray:
        return np.array(log_likelihood(model, x[:3], float(x[3])))

    bend = model.bend(np.array([0]), at[None, :3], at[3:])
    slope, curve = slopes(value, at, 1e-5), slopes(lambda x: slopes(value, x, 1e-4), at, 1e-4)
    assert bend.slope[0] == pytest.approx(slope[:3], abs=1e-5)
    assert bend.curve[0] == pytest.approx(-np.diag(curve)[:3], abs=1e-3)
    if bend.cross is not None:
        assert bend.cross[0] == pytest.approx(-curve[3, :3], abs=1e-3)
        assert bend.tie_slope == pytest.approx(slope[3:], abs=1e-5)
        assert bend.tie_curve == pytest.approx(-curve[3, 3:], abs=1e-3)


PROPORTIONS = st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(PROPORTIONS, st.floats(0.5, 0.999))
@settings(max_examples=60, deadline=None)
def test_wilson_is_that_of_scipy(counts: tuple[int, int], level: float) -> None:
    theirs = binomtest(*counts).proportion_ci(level, "wilson")
    low, high = wilson(*counts, level)
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(1, 2 * n - 1), st.just(n))))
def test_wilson_with_half_points_ends_where_the_score_test_does(counts: tuple[int, int]) -> None:
    points, n = counts[0] / 2, counts[1]
    for end in wilson(points, n, 0.9):
        assert abs(points / n - end) / sqrt(end * (1 - end) / n) == pytest.approx(norm.ppf(0.95))


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_a_combined_win_rate_is_its_formula_summed_by_hand(seed: int) -> None:
    rng = np.random.default_rng(seed)
    human = rng.choice([0, 0.5, 1], 30)
    judge, more = np.where(rng.random(30) < 0.3, 1.0, human), rng.choice([0, 0.5, 1], 90)
    found = win_rate(human, judge, more)
    trust, rest = found.trust, [h - found.trust * j for h, j in zip(human, judge, strict=True)]
    assert found.combined.value == pytest.approx(trust * sum(more) / 90 + sum(rest) / 30)
    spread = sum((r - sum(rest) / 30) ** 2 for r in rest) / 29 / 30
    spread += trust**2 * sum((m - sum(more) / 90) ** 2 for m in more) / 89 / 90
    assert found.combined.error == pytest.approx(sqrt(spread))
    assert (found.combined.low + found.combined.high) / 2 == pytest.approx(found.combined.value)


@given(SEEDS)
@settings(max_examples=10, deadline=None)
def test_combined_ratings_minimise_the_loss_written_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = np.tile([0, 1, 2, 0, 2, 1], 40), np.tile([1, 2, 0, 2, 1, 0], 40)
    human = rng.choice([0.0, 1.0], 60)
    judge = np.where(rng.random(240) < 0.2, 1.0, np.append(human, rng.choice([0.0, 1.0], 180)))
    people, rest = Judged(a[:60], b[:60], human), Judged(a[60:], b[60:], judge[60:])
    found = ratings(3, people, judge[:60], rest)
    assert found.combined is not None

    def loss(theta: np.ndarray, votes: Judged) -> float:
        lead = theta[votes.a] - theta[votes.b]
        return float(np.mean(np.logaddexp(0, lead) - votes.score * lead))

    def total(theta: np.ndarray) -> np.ndarray:
        judged = Judged(people.a, people.b, judge[:60])
        parts = loss(theta, people), found.trust * (loss(theta, rest) - loss(theta, judged))
        return np.array(sum(parts))

    assert slopes(total, found.combined.theta, 1e-5) == pytest.approx(np.zeros(3), abs=1e-7)
    assert found.combined.theta.sum() == pytest.approx(0, abs=1e-9)


@given(SEEDS)
@settings(max_examples=30, deadline=None)
def test_so_many_battles_are_enough_and_one_fewer_is_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(size=3), rng.normal(size=(3, 3))
    known = root @ root.T
    needed = battles_needed(theta, known, 0, 2, level=0.9, power=0.7)
    assert needed is not None
    gap, bend = theta[0] - theta[2], expit(theta[0] - theta[2]) * expit(theta[2] - theta[0])

    def reach(battles: int) -> float:
        return (norm.ppf(0.95) + norm.ppf(0.7)) / sqrt(1 / gap_variance(known)[0, 2] + battles * bend)

    assert reach(needed) <= abs(gap) * (1 + 1e-9)
    assert needed == 0 or reach(needed - 1) > abs(gap) * (1 - 1e-9)


@given(SEEDS)
@settings(max_examples=20, deadline=None)
def test_one_battle_shrinks_the_variance_by_what_is_said(seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta, root = rng.normal(size=4), rng.normal(size=(4, 4))
    known = root @ root.T + np.eye(4)
    advice = most_informative(theta, known, count=99)
    assert len(advice) == 6
    for pair in advice:
        ends = np.eye(4)[pair.i] - np.eye(4)[pair.j]
        p = expit(ends @ theta)
        after = np.linalg.inv(np.linalg.inv(known) + p * (1 - p) * np.outer(ends, ends))
        assert pair.shrinkage == pytest.approx(1 - np.trace(after) / np.trace(known), rel=1e-6)
    assert [pair.shrinkage for pair in advice] == sorted((pair.shrinkage for pair in advice), reverse=True)
