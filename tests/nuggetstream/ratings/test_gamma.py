"""Gamma random numbers for whole arrays: their distribution, and the rejections that make it exact."""

import numpy as np
import pytest
from scipy import stats

from nuggetstream.ratings.fitting import gamma
from nuggetstream.ratings.fitting.gamma import gamma_rows
from tests.nuggetstream.ratings.drawn import seeded

EDGE = gamma._LEAST  # below it, the densities are not compared
MANY = 400_000  # as many small numbers fill a chunk; fewer of them are left to numpy


@pytest.mark.parametrize("shape", [0.2, 1.0, 2.0, 2.5, 3.0, EDGE, 7.0, 11.5, 12.0, 40.0, 300.5, 1e4, 1e8])
def test_the_numbers_are_gamma_distributed(shape: float) -> None:
    drawn = gamma_rows(np.array([shape]), MANY, seeded(5))[0].astype(float)
    assert stats.kstest(drawn, stats.gamma(shape).cdf).pvalue > 0.001
    assert abs(drawn.mean() - shape) < 4 * (shape / MANY) ** 0.5
    # The variance of a sample variance is (excess kurtosis + 2) / n of its square.
    assert abs(drawn.var() / shape - 1) < 4 * ((6 / shape + 2) / MANY) ** 0.5


@pytest.mark.parametrize("shape", [1.0, 3.0, EDGE, 12.0, 70.0])
def test_the_tails_have_the_right_weight(shape: float) -> None:
    """A normal approximation of the cube root would have lighter or heavier tails."""
    drawn = gamma_rows(np.full(8, shape), MANY, seeded(6)).ravel()
    for tail in (1e-4, 1e-3, 0.999, 0.9999):
        below, n = (drawn < stats.gamma(shape).ppf(tail)).mean(), drawn.size
        assert abs(below - tail) < 4 * (tail * (1 - tail) / n) ** 0.5


def test_numbers_are_rejected_as_often_as_the_densities_say() -> None:
    """The target density over that of the proposal, relative to its largest value, which is at t = 0."""
    rng = np.random.default_rng(1)
    shape, x = rng.uniform(EDGE, 60, MANY), rng.normal(0, 2.5, MANY)
    shift = shape - 1 / 3
    scale = 1 / (3 * np.sqrt(shift))
    root = (1 + scale * x).astype(np.float32)
    with np.errstate(all="ignore"):
        target = stats.gamma.logpdf(shift * root**3, shape) + np.log(3 * shift * scale * root**2)
    top = stats.gamma.logpdf(shift, shape) + np.log(3 * shift * scale) - stats.norm.logpdf(0)
    accept = np.where(root > 0, np.exp(target - stats.norm.logpdf(x) - top), 0.0)
    assert accept.max() < 1 + 1e-4
    coarse = rng.integers(0, 2**16, MANY, dtype=np.uint16)
    rejected = gamma._rejected(root, shift, coarse, seeded(2))
    spread = (accept * (1 - accept)).clip(0).sum() ** 0.5
    assert rejected.sum() > 1000
    assert abs(rejected.sum() - (1 - accept).sum()) < 4 * spread


def test_what_is_accepted_at_once_is_never_to_be_rejected() -> None:
    """The bound of the chance of a rejection is an upper bound, for every root and shape."""
    t = np.concatenate([np.linspace(-3, 3, 6001), np.linspace(-0.3, 0.3, 6001)])
    for shift in (EDGE - 1 / 3, 10.6, 10.7, 15.0, 50.0, 1e3, 1e6):
        with np.errstate(all="ignore"):
            log_chance = shift * (1.5 * t**2 - 3 * t - t**3 + 3 * np.log1p(t))
        chance = np.where(t > -1, -np.expm1(log_chance), 1.0)
        bound = gamma._risk(t.astype(np.float32)[None, :], np.array([shift]))[0] / gamma._LEVELS
        assert (np.minimum(bound, 1) >= chance - 1e-12).all()


@pytest.mark.parametrize("shape", [EDGE, 12.0])
def test_a_rejected_number_is_replaced(monkeypatch: pytest.MonkeyPatch, shape: float) -> None:
    kept = gamma_rows(np.full(50, shape), 1000, seeded(3))
    monkeypatch.setattr(gamma, "_rejected", lambda root, *_: np.zeros(len(root), dtype=bool))
    unchecked = gamma_rows(np.full(50, shape), 1000, seeded(3))
    differ = (kept != unchecked)[:16].mean()  # rows of the first chunk, whose normal numbers are the same
    assert 0.3 < differ * 36 * shape < 3


def test_a_few_small_numbers_are_those_of_numpy() -> None:
    shapes = np.array([3.0, 7.0, 11.5])
    stream = seeded(8)
    expected = [stream.standard_gamma(shape, 1000).astype(np.float32) for shape in shapes]
    assert (gamma_rows(shapes, 1000, seeded(8)) == expected).all()


@pytest.mark.parametrize("columns", [1, 3, 1000, 2**15 + 1])
def test_every_number_of_columns_is_filled(columns: int) -> None:
    rows = gamma_rows(np.array([50.0, 0.5, 20.0]), columns, seeded())
    assert rows.shape == (3, columns)
    assert rows.dtype == np.float32
    assert (rows[[0, 2]] > 0).all()


def test_equal_streams_give_equal_numbers() -> None:
    shapes = np.array([3.0, 30.0, 300.0])
    assert (gamma_rows(shapes, 100, seeded(4)) == gamma_rows(shapes, 100, seeded(4))).all()
    assert (gamma_rows(shapes, 100, seeded(4)) != gamma_rows(shapes, 100, seeded(5))).all()
