"""Krippendorff's alpha: published goldens, and where it has no answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.statistics.krippendorff import Level, alpha, value_counts

UNITS = st.lists(st.lists(st.integers(0, 3), max_size=5), min_size=1, max_size=12)
# Krippendorff's own example: four coders, twelve units, not everybody saw everything.
CODERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
EXAMPLE = [[value for value in unit if value is not None] for unit in zip(*CODERS, strict=True)]


@pytest.mark.parametrize(
    ("level", "published"), [(Level.NOMINAL, 0.743), (Level.ORDINAL, 0.815), (Level.INTERVAL, 0.849)]
)
def test_it_equals_the_published_example(level: Level, published: float) -> None:
    assert alpha(EXAMPLE, [1, 2, 3, 4, 5], level) == pytest.approx(published, abs=5e-4)


@given(UNITS.flatmap(lambda units: st.tuples(st.just(units), st.permutations(units))))
def test_the_order_of_units_and_units_with_one_value_never_matter(
    both: tuple[list[list[int]], list[list[int]]],
) -> None:
    first, again = both
    found = alpha(first, range(4))
    assert alpha([*again, [3], []], range(4)) == (None if found is None else pytest.approx(found))


def test_data_without_an_answer_have_no_alpha() -> None:
    assert alpha([], "ab") is None
    assert alpha(["a", "b"], "ab") is None  # nobody looked twice
    assert alpha(["aa", "aa"], "ab") is None  # nothing could have disagreed
    assert alpha(["aa", "bb"], "ab") == 1


def test_values_outside_the_domain_are_refused() -> None:
    with pytest.raises(ValueError, match="'c' is not in the domain"):
        alpha(["ac"], "ab")
    with pytest.raises(ValueError, match="at least two values"):
        value_counts(["a"], "a")
    assert value_counts(["ab", "bb", ""], "ab").tolist() == [[1, 1], [0, 2], [0, 0]]
