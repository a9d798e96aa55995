"""Groups of measurements: how far apart they are, and their density."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nuggetstream.statistics.distributions import density, kolmogorov_smirnov

SAMPLES = st.lists(st.integers(-20, 20), min_size=1, max_size=12)


def test_kolmogorov_smirnov_by_hand_and_without_an_empty_group() -> None:
    found = kolmogorov_smirnov({"a": [1, 2, 3, 4], "b": [3, 4, 5, 6], "none": []})
    assert [(pair.first, pair.second, pair.distance) for pair in found] == [("a", "b", 0.5)]
    assert found[0].sizes == (4, 4)
    assert kolmogorov_smirnov({}) == kolmogorov_smirnov({"one": [1.0]}) == []
    with pytest.raises(ValueError, match="missing"):
        kolmogorov_smirnov({"a": [np.nan], "b": [1]})


@pytest.mark.filterwarnings(
    "ignore:ks_2samp. Exact calculation unsuccessful"
)  # scipy then uses the asymptotic p
@given(SAMPLES, SAMPLES)
def test_kolmogorov_smirnov_is_the_largest_gap_of_two_step_functions(x: list[int], y: list[int]) -> None:
    gaps = [abs(sum(v <= at for v in x) / len(x) - sum(v <= at for v in y) / len(y)) for at in x + y]
    (found,) = kolmogorov_smirnov({"x": x, "y": y})
    (turned,) = kolmogorov_smirnov({"y": y, "x": x})
    assert found.distance == turned.distance == pytest.approx(max(gaps))
    assert found.p_value == pytest.approx(turned.p_value)


def test_a_density_integrates_to_one_and_two_points_match_the_formula() -> None:
    grid = np.linspace(-20, 20, 4001)
    curve = density([0.0, 1.0], grid)
    assert curve is not None
    assert np.trapezoid(curve, grid) == pytest.approx(1)
    width = np.std([0, 1], ddof=1) * 2 ** (-1 / 5)
    assert curve[2000] == pytest.approx((stats.norm.pdf(0, 0, width) + stats.norm.pdf(0, 1, width)) / 2)


def test_what_does_not_vary_has_no_density() -> None:
    for values in ([], [0.5], [0.5, 0.5, 0.5]):
        assert density(values, np.array([0.5])) is None
    with pytest.raises(ValueError, match="missing"):
        density([1.0, np.nan], np.zeros(1))
