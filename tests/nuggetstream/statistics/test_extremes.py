"""Which group is first and which is last is said only where the data can tell."""

import numpy as np
import pytest

from nuggetstream.statistics.extremes import first_and_last


def test_groups_that_differ_by_more_than_their_interval_are_told_apart() -> None:
    groups = {"b": [50.0, 52, 51, 49], "a": [90.0, 92, 91, 94], "c": [70.0, 72, 71, 74]}
    assert first_and_last(groups) == ("a", "b")


@pytest.mark.parametrize(
    "groups",
    [
        {"a": [57.0, 57], "b": [57.0, 57]},
        {"a": [80.0, 70], "b": [79.0, 67]},
        {"a": [90.0], "b": [10.0]},
        {"a": [90.0, 91]},
        {"a": [58.0, 58], "b": [57.0, 57]},
        {},
    ],
)
def test_too_few_or_too_close_measurements_have_no_first_and_last(groups: dict[str, list[float]]) -> None:
    assert first_and_last(groups) is None


def test_equal_groups_are_rarely_told_apart_however_many_there_are() -> None:
    rng = np.random.default_rng(1)
    told = sum(
        first_and_last({str(group): rng.normal(size=20).tolist() for group in range(8)}) is not None
        for _ in range(400)
    )
    assert told / 400 <= 0.06


def test_a_measurement_that_is_not_finite_is_an_error() -> None:
    with pytest.raises(ValueError, match="not finite"):
        first_and_last({"a": [1.0, float("nan")], "b": [1.0, 2.0]})
