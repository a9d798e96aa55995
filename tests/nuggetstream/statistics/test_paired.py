"""Paired tests and adjusted p-values: by hand, and where there is no answer."""

import numpy as np
import pytest
from scipy import stats

from nuggetstream.statistics.paired import benjamini_hochberg, paired_t, wilcoxon


def test_wilcoxon_leaves_pairs_without_a_difference_out() -> None:
    found = wilcoxon([1, 2, 3, 4, 5, 9], [0, 0, 0, 0, 0, 9])
    assert found is not None
    assert (found.zeros, found.pairs) == (1, 6)
    assert found.statistic == 0


def test_tests_without_an_answer_say_none() -> None:
    assert wilcoxon([1, 2], [1, 2]) is None
    assert wilcoxon([], []) is None
    for missing in (np.nan, np.inf):
        with pytest.raises(ValueError, match="missing or not finite"):
            wilcoxon([1, missing], [0, 0])
    with pytest.raises(ValueError, match="cannot be paired"):
        wilcoxon([1, 2, 3], [1, 2])


def test_benjamini_hochberg_by_hand() -> None:
    found = benjamini_hochberg({"a": 0.005, "b": 0.04, "c": 0.02, "d": 0.9})
    assert found == pytest.approx({"a": 0.02, "b": 0.04 * 4 / 3, "c": 0.04, "d": 0.9})
    assert benjamini_hochberg({}) == {}
    with pytest.raises(ValueError, match="p-value"):
        benjamini_hochberg({"a": float("nan")})
    for outside in (-0.1, 1.5):
        with pytest.raises(ValueError, match="p-value"):
            benjamini_hochberg({"a": 0.5, "b": outside})


def test_beyond_fifty_pairs_wilcoxon_is_normal_without_a_correction() -> None:
    differences = [-n if n <= 20 else n for n in range(1, 61)]
    found = wilcoxon(differences, [0] * 60)
    assert found is not None
    assert found.statistic == 20 * 21 / 2
    z = (210 - 60 * 61 / 4) / np.sqrt(60 * 61 * 121 / 24)
    assert found.p_value == pytest.approx(2 * stats.norm.cdf(z))


def test_a_paired_t_test_by_hand() -> None:
    found = paired_t([3, 5, 4, 8], [1, 4, 4, 5])
    assert found is not None  # differences 2 1 0 3: mean 1.5, sd sqrt(5/3)
    assert found.statistic == pytest.approx(1.5 / (np.sqrt(5 / 3) / 2))
    assert (found.zeros, found.mean_difference, found.pairs) == (1, 1.5, 4)
    assert paired_t([1, 2], [0, 1]) is None
    assert paired_t([1], [0]) is None
