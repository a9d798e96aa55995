"""Inversions over all battles, by language and by category."""

from typing import Any

from nuggetstream.report.numbers.inversions import compute_inversions
from tests.evaluated import battle


def test_inversions_are_counted_where_both_decide(read: Any) -> None:
    found = compute_inversions(
        read(
            battle("b1", human="b", tags=["category:science", "long"]),
            battle("b2", human="a", tags=["category:science"]),
            battle("b3", human="tie"),
            battle("b4", human="b", judge=None, language="de"),
        )
    )
    slices = {(each.by, each.name): each for each in found.slices}
    everything = slices["all", "all battles"].inverted
    assert (everything["nugget"].count, everything["nugget"].of) == (2, 3)
    assert (everything["judge"].count, everything["judge"].of) == (1, 2)
    of_all = slices["all", "all battles"].of_all  # the tie counts among the battles
    assert [(of_all[lens].count, of_all[lens].of) for lens in ("nugget", "judge")] == [(2, 4), (1, 3)]
    assert slices["category", "science"].inverted["nugget"].value == 0.5
    assert slices["category", "not given"].battles == 2
    assert slices["language", "de"].inverted["judge"].value is None
