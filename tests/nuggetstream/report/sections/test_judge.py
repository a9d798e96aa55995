"""The audit of the judge: flips, position, length and its own model."""

from typing import Any

from nuggetstream.report.sections.judge import SECTION
from tests.evaluated import battle, judgment


def test_the_audit_tells_flips_position_and_length(read: Any) -> None:
    (found,) = SECTION.compute(
        read(
            battle("b1"),  # A is longer
            battle("b2", judgments=[judgment("tie", flipped=True)], human="b"),
            battle("b3", judgments=[judgment("b", flipped=None)], human=None),
            battle("b4", judge=None),
        )
    )
    assert (found.judged, found.received) == (3, 4)
    assert (found.flipped.count, found.flipped.of) == (1, 2)
    assert (found.tied.count, found.tied.of) == (1, 3)
    assert (found.first_shown.count, found.first_shown.of) == (4, 6)
    assert (found.longer.count, found.longer.of) == (1, 2)
    assert (found.people_longer.count, found.people_longer.of) == (1, 2)
    assert found.own is None


def test_self_preference_compares_the_judge_with_people_over_the_same_battles(read: Any) -> None:
    judged = [judgment("b", model="right")]
    (found,) = SECTION.compute(
        read(
            battle("b1", human="a", judgments=judged),
            battle("b2", human="b", judgments=judged),
            battle("b3", human=None, judgments=judged),
            battle("b4", a="x", b="y", judgments=judged),
        )
    )
    assert found.own is not None
    assert (found.own.by_judge.count, found.own.by_judge.of) == (2, 2)
    assert (found.own.by_people.count, found.own.by_people.of) == (1, 2)
