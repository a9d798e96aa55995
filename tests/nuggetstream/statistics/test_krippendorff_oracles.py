"""Krippendorff's alpha against its definition written out, and against two libraries."""

from itertools import permutations

import evalica
import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from nuggetstream.statistics.krippendorff import Level, alpha

UNITS = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=12)


@given(UNITS)
def test_it_equals_the_definition_pair_by_pair(units: list[list[int]]) -> None:
    pairable = [unit for unit in units if len(unit) > 1]
    values = [value for unit in pairable for value in unit]
    found = alpha(units, range(4))
    if len(set(values)) < 2:
        assert found is None
        return
    count = [values.count(value) for value in range(4)]

    def distance(x: int, y: int) -> float:
        low, high = min(x, y), max(x, y)
        return float((sum(count[low : high + 1]) - (count[low] + count[high]) / 2) ** 2)

    n = len(values)
    observed = sum(distance(x, y) / (len(unit) - 1) for unit in pairable for x, y in permutations(unit, 2))
    expected = sum(distance(x, y) for x, y in permutations(values, 2)) / (n - 1)
    assert found == pytest.approx(1 - observed / expected)


@pytest.mark.parametrize("level", Level)
@given(
    st.lists(st.lists(st.sampled_from([None, 0, 1, 2, 3]), min_size=4, max_size=4), min_size=2, max_size=9)
)
@settings(max_examples=40, deadline=None)
def test_evalica_and_krippendorff_find_the_same_alpha(level: Level, rows: list[list[int | None]]) -> None:
    found = alpha([[value for value in row if value is not None] for row in rows], range(4), level)
    assume(found is not None)
    coders = np.array([[np.nan if value is None else value for value in row] for row in rows]).T
    assert found == pytest.approx(evalica.alpha(pd.DataFrame(coders), distance=level.value).alpha)
    assert found == pytest.approx(krippendorff.alpha(coders, level_of_measurement=level.value))
