"""Krippendorff's alpha: published goldens, and where it has no answer."""

import math

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.statistics.krippendorff import Level, alpha, alpha_of_ratings, value_counts

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
    expected = alpha(first, range(4))
    assert alpha([*again, [3], []], range(4)) == (None if expected is None else pytest.approx(expected))


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


@pytest.mark.parametrize(
    ("level", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_a_table_of_raters_and_items_gives_the_published_example(level: str, published: float) -> None:
    assert alpha_of_ratings(CODERS, level) == pytest.approx(published, abs=5e-4)
    as_array = np.array(CODERS, dtype=float)  # missing ratings are NaN
    assert alpha_of_ratings(as_array, level) == alpha_of_ratings(CODERS, level)
    assert alpha_of_ratings(polars.DataFrame(as_array), level) == alpha_of_ratings(CODERS, level)


def test_distances_of_a_table_are_those_of_its_numbers() -> None:
    near, far = [[1, 2, 9], [2, 2, 9]], [[1, 8, 9], [8, 8, 9]]
    assert alpha_of_ratings(near, "ordinal") == alpha_of_ratings(far, "ordinal")
    assert (alpha_of_ratings(near, "interval") or 0) > (alpha_of_ratings(far, "interval") or 0)
    # By hand, squared: 1 in one of three items; of all values 3 pairs of 1 and 2, 2 of 1 and 9, 6 of 2 and 9.
    expected = 1 - (2 * 1 / 6) / (2 * (3 * 1 + 2 * 64 + 6 * 49) / 30)
    assert alpha_of_ratings(near, "interval") == pytest.approx(expected)


def test_texts_have_an_order_only_when_it_is_named() -> None:
    texts = [["poor", "good", "fair"], ["poor", "good", "good"]]
    assert alpha_of_ratings(texts, "nominal") is not None
    named = alpha_of_ratings(texts, domain=["poor", "fair", "good"])
    assert named == alpha_of_ratings([[0, 2, 1], [0, 2, 2]])
    with pytest.raises(ValueError, match="order of texts is not known"):
        alpha_of_ratings(texts)
    with pytest.raises(ValueError, match="needs numbers"):
        alpha_of_ratings(texts, "interval")
    with pytest.raises(ValueError, match="'good' is not in the domain"):
        alpha_of_ratings(texts, domain=["poor", "fair"])


@pytest.mark.parametrize(
    "values", [[[1, None], [None, 2]], [[1, 1], [1, 1]], [[None, None]], [[None], [math.nan]], [[], []]]
)
def test_a_table_in_which_nothing_could_disagree_has_no_alpha(values: list[list[float | None]]) -> None:
    assert alpha_of_ratings(values) is None


@pytest.mark.parametrize("values", [[1, 2], [[1, 2], [1]], 3])
def test_values_that_form_no_table_are_refused(values: object) -> None:
    with pytest.raises(ValueError, match=r"table of raters|inhomogeneous"):
        alpha_of_ratings(values)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cardinal"):
        alpha_of_ratings(CODERS, "cardinal")


def test_the_ratio_level_needs_a_zero_below_which_nothing_is() -> None:
    # By hand: (3/5)² in one of three items; of all values 3 pairs of 1 and 4, 2 of 1 and 2, 6 of 2 and 4.
    expected = 1 - (2 * 0.36 / 6) / (2 * (3 * 0.36 + 2 / 9 + 6 / 9) / 30)
    assert alpha_of_ratings([[1, 4, 2], [4, 4, 2]], "ratio") == pytest.approx(expected)
    with pytest.raises(ValueError, match="needs numbers from 0 on; there is -1"):
        alpha_of_ratings([[1, 4], [4, -1]], "ratio")
