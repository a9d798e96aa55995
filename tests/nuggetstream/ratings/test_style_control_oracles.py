"""Style control against a logistic regression of scikit-learn with a clustered sandwich."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from nuggetstream.ratings.fitting.style_control import control
from tests.nuggetstream.ratings.drawn import SEEDS
from tests.nuggetstream.ratings.equations import ends_of, sandwich_of, votes_of


@given(SEEDS, st.sampled_from((0.01, 1.0)))
@settings(max_examples=12, deadline=None)
def test_the_ridge_is_that_of_arena_rank(seed: int, ridge: float) -> None:
    """Its loss, minimised by another method: the mean over votes, and half the ridge times Σ β²."""
    votes = votes_of(seed)
    style = np.random.default_rng(seed).normal(size=(len(votes.a), 2)) * (1, 5)
    found = control(votes, style, ["length", "bold"], ridge=ridge)
    share = votes.weight / votes.weight.sum()
    design = np.hstack([ends_of(votes), style / np.sqrt(share @ style**2)])

    def loss(state: np.ndarray) -> tuple[float, np.ndarray]:
        logit = design @ state
        pull = ridge * np.append(np.zeros(4), state[4:])
        value = share @ (np.logaddexp(0, logit) - votes.score * logit) + pull @ state / 2
        return value, design.T @ (share * (expit(logit) - votes.score)) + pull

    least = minimize(loss, np.zeros(6), jac=True, method="BFGS", options={"gtol": 1e-10}).x
    assert found.theta == pytest.approx(least[:4] - least[:4].mean(), abs=1e-4)
    assert [c.value for c in found.coefficients] == pytest.approx(least[4:].tolist(), abs=1e-4)


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
    errors = np.sqrt(np.diag(sandwich_of(scores, at, votes.cluster)))
    assert [c.error for c in found.coefficients] == pytest.approx(errors[4:].tolist(), rel=1e-3)
    assert np.sqrt(np.diag(found.covariance)) == pytest.approx(errors[:4], rel=1e-3)
