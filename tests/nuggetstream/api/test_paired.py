"""`ns.paired` and `ns.benjamini_hochberg`: pairs by key or place, and what is missing is counted."""

from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns

ONES = {"q1": 1.0, "q2": 2.0, "q3": 3.0}
ZEROS = dict.fromkeys(ONES, 0.0)


def test_the_tests_of_three_pairs_are_those_computed_by_hand() -> None:
    result = ns.paired(ONES, ZEROS)
    assert result.t is not None
    assert result.wilcoxon is not None
    assert result.limits is not None
    assert result.mean_difference == 2.0
    assert result.t.statistic == pytest.approx(2 * sqrt(3))  # mean 2, sd 1, n 3
    assert result.t.p_value == pytest.approx(1 - sqrt(12 / 14))  # t with 2 degrees of freedom
    assert (result.wilcoxon.statistic, result.wilcoxon.p_value) == (0.0, 0.25)  # one of 4 signs, both sides
    half = 4.302652729911 / sqrt(3)  # the 97.5% quantile of t with 2 degrees of freedom
    assert result.limits.bias_interval == pytest.approx((2 - half, 2 + half))
    assert result.limits.high == pytest.approx(2 + 1.959964)
    row = result.to_frame().row(0, named=True)
    assert (row["pairs"], row["mean_difference"], row["low"]) == (3, 2.0, result.limits.bias_interval[0])
    assert (row["t_p_value"], row["w_p_value"]) == (result.t.p_value, 0.25)
    assert result.to_latex().count(r"\\") == 2


def test_dictionaries_are_paired_by_key_and_lists_by_place() -> None:
    shuffled = {name: ZEROS[name] for name in ("q3", "q1", "q2")}
    assert ns.paired(ONES, shuffled) == ns.paired(ONES, ZEROS)
    by_place = ns.paired([1.0, 2.0, 3.0], (0, 0, 0))
    assert by_place.items == (0, 1, 2)
    assert by_place.t == ns.paired(ONES, ZEROS).t


def test_items_without_both_numbers_are_left_out_and_counted() -> None:
    first = ONES | {"only": 7.0, "none": None}
    second = ZEROS | {"other": 4.0, "none": nan}
    result = ns.paired(first, second)
    assert result.items == ("q1", "q2", "q3")
    assert (result.only_first, result.only_second, result.neither) == (("only",), ("other",), ("none",))
    assert result.t == ns.paired(ONES, ZEROS).t
    assert "3 items without both numbers, left out." in str(result)


@pytest.mark.parametrize(
    "column",
    [
        lambda frame: pl.DataFrame(frame)["x"],
        lambda frame: pd.DataFrame(frame)["x"],
        lambda frame: pd.DataFrame(frame)["x"].astype("Float64"),
        lambda frame: np.array(frame["x"], dtype=float),
        lambda frame: iter(frame["x"]),
    ],
    ids=["polars", "pandas", "nullable pandas", "numpy", "iterator"],
)
def test_columns_of_frames_are_lists(column: Any) -> None:
    result = ns.paired(column({"x": [1.0, None, 3.0, 4.0]}), column({"x": [0.0, 5.0, 0.0, 0.0]}))
    assert (result.first, result.only_second) == ((1.0, 3.0, 4.0), (1,))


def test_what_is_undefined_is_missing_and_says_why() -> None:
    result = ns.paired([1, 2], [1, 2])
    assert (result.t, result.wilcoxon, result.limits) == (None, None, None)
    shown = str(result)
    assert "No t: there are fewer than 2 pairs, or all differences are the same." in shown
    assert "No Wilcoxon test: no pair differs." in shown
    assert "No interval: there are fewer than 3 pairs." in shown
    row = result.to_frame().row(0, named=True)
    assert (row["pairs"], row["t"], row["w"], row["low"]) == (2, None, None, None)


@pytest.mark.parametrize(
    ("first", "second", "level", "problem"),
    [
        ([1, 2], [1], 0.95, "first has 2 numbers and second 1"),
        ([None], [1], 0.95, "no item has a number in both"),
        ([], [], 0.95, "no item has a number in both"),
        ([1, "2"], [1, 2], 0.95, "first, item 1: is '2'; expected a number"),
        ({"q": 1}, {"q": inf}, 0.95, "second, item 'q': is inf; expected a number"),
        ({"q": [1]}, {"q": 1}, 0.95, r"first, item 'q': is \[1\]; expected a number"),
        ([1], [1], 1.0, "level: is 1.0; expected a number between 0 and 1"),
    ],
)
def test_what_cannot_be_paired_is_named(first: Any, second: Any, level: float, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        ns.paired(first, second, level=level)


def test_a_dictionary_is_not_paired_with_a_list() -> None:
    with pytest.raises(TypeError, match="expected two dictionaries, or two lists"):
        ns.paired({"q": 1}, [1])


def test_p_values_of_many_tests_are_adjusted_and_a_missing_one_stays_missing() -> None:
    result = ns.benjamini_hochberg({"x": 0.01, "y": 0.04, "z": 0.03, "none": None})
    assert [result[name] for name in ("x", "y", "z", "none")] == pytest.approx([0.03, 0.04, 0.04, None])
    assert result.to_frame()["adjusted"].to_list() == [result[name] for name in result.p_values]
    assert "1 test without a p-value, left out." in str(result)
    with pytest.raises(ValueError, match=r"a p-value lies in \[0, 1\]"):
        ns.benjamini_hochberg({"x": 1.5})


def test_outcomes_of_paired_tests_are_adjusted_as_their_p_values() -> None:
    test = ns.paired(ONES, ZEROS).t
    assert test is not None
    result = ns.benjamini_hochberg({"t": test, "w": ns.paired(ONES, ZEROS).wilcoxon})
    assert result.p_values == {"t": test.p_value, "w": 0.25}
    assert result["t"] == pytest.approx(2 * test.p_value)


def test_a_tiny_p_value_is_printed_as_a_bound_and_kept_in_a_frame() -> None:
    result = ns.benjamini_hochberg({"x": 1e-9})
    assert str(result).splitlines()[-1].split() == ["x", "<", "0.001", "<", "0.001"]
    assert result.to_frame()["p_value"].to_list() == [1e-9]
