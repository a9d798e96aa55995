"""Reciprocal rank fusion against its sum written out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.statistics.fusion import reciprocal_rank_fusion


@given(
    st.lists(st.permutations("abcdef").map(lambda keys: keys[:4]), min_size=1, max_size=4), st.integers(0, 90)
)
def test_a_fused_score_is_a_sum_over_places(rankings: list[list[str]], constant: int) -> None:
    fused = reciprocal_rank_fusion(rankings, constant)
    expected = {
        key: sum(1 / (constant + row.index(key) + 1) for row in rankings if key in row)
        for key in {key for row in rankings for key in row}
    }
    assert dict(fused) == pytest.approx(expected)
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)
    assert max(expected.values()) <= len(rankings) / (constant + 1) + 1e-12
