"""Limits of agreement of two measurements."""

import numpy as np
import pytest
from scipy import stats

from nuggetstream.statistics.bland_altman import bland_altman


def test_limits_of_agreement_by_hand() -> None:
    found = bland_altman([12.0, 14, 16, 18], [10.0, 14, 14, 18])
    assert (found.bias, found.sd) == (1.0, pytest.approx(np.sqrt(4 / 3)))
    assert found.low == pytest.approx(1 - 1.959964 * np.sqrt(4 / 3))
    half = stats.t.ppf(0.975, 3) * found.sd / 2
    assert found.bias_interval == (pytest.approx(1 - half), pytest.approx(1 + half))
    assert found.high == pytest.approx(1 + 1.959964 * np.sqrt(4 / 3))
    limit = stats.t.ppf(0.975, 3) * np.sqrt(4 / 3) * np.sqrt(1 / 4 + 1.959964**2 / 6)
    assert found.low_interval == pytest.approx((found.low - limit, found.low + limit))
    assert found.high_interval == pytest.approx((found.high - limit, found.high + limit))
    assert found.means.tolist() == [11, 14, 15, 18]


def test_swapping_the_measurements_turns_the_plot_over() -> None:
    x, y = [1.0, 4, 2, 8], [2.0, 2, 5, 7]
    there, back = bland_altman(x, y), bland_altman(y, x)
    assert (there.bias, there.low) == (pytest.approx(-back.bias), pytest.approx(-back.high))


def test_two_pairs_have_no_limits_of_agreement() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        bland_altman([1, 2], [1, 2])
    for x, y in (([1, 2, np.inf], [1, 2, 3]), ([1, 2, 3], [1, 2, np.nan])):
        with pytest.raises(ValueError, match="not finite"):
            bland_altman(x, y)
    with pytest.raises(ValueError, match="cannot be paired"):
        bland_altman([1, 2, 3], [1])
    for level in (1.0, np.nan):
        with pytest.raises(ValueError, match="level"):
            bland_altman([1, 2, 3], [1, 2, 3], level)
