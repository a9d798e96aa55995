"""Score differences by human vote: densities and tests."""

from typing import Any

import pytest

from nuggetstream.report.numbers.differences import compute_differences
from tests.evaluated import battle


def test_groups_that_do_not_overlap_have_a_distance_of_one(read: Any) -> None:
    won = [battle(f"a{i}", human="a", scores=(0.5 + i / 20, 0.1)) for i in range(6)]
    lost = [battle(f"b{i}", human="b", scores=(0.1, 0.5 + i / 20)) for i in range(6)]
    few = [battle("t", human="tie", scores=(0.5, 0.5))]
    (found,) = compute_differences(read(*won, *lost, *few))
    decided, *with_tie = sorted(found.comparisons, key=lambda test: test.missing is not None)
    assert (decided.first, decided.second, decided.statistic) == ("a", "b", 1.0)
    assert decided.p == decided.p_adjusted == pytest.approx(2 / 924)  # two of C(12, 6) orders
    assert all(test.statistic is None and test.missing for test in with_tie)
    (tie,) = [group for group in found.groups if group.vote == "tie"]
    assert tie.density is None
    assert "there is 1" in (tie.missing or "")


def test_a_density_covers_an_area_of_one(read: Any) -> None:
    battles = [battle(f"b{i}", scores=(0.5, 0.3 + i / 20)) for i in range(8)]
    (found,) = compute_differences(read(*battles))
    assert sum(found.groups[0].density or ()) * 0.01 == pytest.approx(1, abs=1e-3)
