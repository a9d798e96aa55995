"""The probability of each outcome when a battle's nuggets are drawn again."""

from typing import Any

import pytest

from nuggetstream.report.numbers.certainty import compute_certainty
from tests.evaluated import battle, nugget


def nuggets(count: int, a: str | None = "support", b: str | None = "not_support") -> list[dict[str, Any]]:
    return [nugget(f"Fact {i}.", a=a, b=b) for i in range(count)]


def test_nuggets_that_all_speak_for_one_side_leave_no_doubt(read: Any) -> None:
    right = battle("b1", human="a", nuggets=nuggets(5))
    wrong = battle("b2", human="b", nuggets=nuggets(5))
    found = compute_certainty(read(right, wrong, battle("b3", human="tie", nuggets=nuggets(5))))
    assert [(each.a, each.tie, each.b) for each in found.battles] == [(1.0, 0.0, 0.0)] * 3
    assert (found.sure.count, found.sure.of) == (3, 3)
    top = found.bands[-1]
    assert (top.battles, top.agree.count, top.agree.of) == (3, 1, 2)
    assert [band.battles for band in found.bands] == [0, 0, 0, 3]


def test_nuggets_that_disagree_leave_doubt(read: Any) -> None:
    split = [*nuggets(3), nugget("Against.", a="not_support", b="support")]
    (found,) = compute_certainty(read(battle("b1", nuggets=split))).battles
    assert 0 < found.b < found.a < 1
    assert found.a + found.tie + found.b == pytest.approx(1)
    assert found.certainty == found.a


def test_one_nugget_or_a_missing_label_gives_no_probability(read: Any) -> None:
    found = compute_certainty(
        read(
            battle("b1", nuggets=nuggets(1)),
            battle("b2", nuggets=[*nuggets(2), nugget("?", b=None)]),
            battle("b3", scores=None),
        )
    )
    assert (found.received, found.scored, found.few_nuggets, found.unlabelled) == (3, 2, 1, 1)
    assert found.battles == ()
    assert found.sure.value is None
