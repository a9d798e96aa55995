"""The sweep of the tie threshold, and the thresholds calibrated on people."""

from typing import Any

import pytest

from nuggetstream.report.numbers.threshold import compute_threshold
from tests.evaluated import battle


def test_a_difference_equal_to_the_threshold_is_a_tie(read: Any) -> None:
    (found,) = compute_threshold(read(battle("b1", scores=(0.6, 0.5)), battle("b2", human="b")))
    ties = {step.threshold: step.ties for step in found.steps}
    assert (ties[0.09], ties[0.1]) == (0.0, 0.5)
    agreement = {step.threshold: step.agreement for step in found.steps}
    assert (agreement[0.09], agreement[0.1]) == (0.5, 0.25)
    assert found.used == {0.07: 2}


def test_of_thresholds_with_one_kappa_the_smallest_is_best(read: Any) -> None:
    battles = [battle("b1", scores=(0.9, 0.1)), battle("b2", human="b", scores=(0.1, 0.9))]
    (found,) = compute_threshold(read(*battles))
    assert (found.best, found.equals) == (0.0, 31)


def test_a_calibrated_threshold_between_two_hundredths_is_swept_too(read: Any) -> None:
    people = (("a", 0.9), ("b", -0.9), ("tie", 0.075), ("tie", -0.075))
    battles = [battle(f"b{i}", human=vote) for i, (vote, _) in enumerate(people)]
    for row, (_, margin) in zip(battles, people, strict=True):
        row["nugget_verdict"]["margin"] = margin
    (found,) = compute_threshold(read(*battles))
    assert found.by_kappa.threshold == found.best == 0.075
    assert (found.steps[7].threshold, found.steps[7].ties) == (0.07, 0.0)
    assert (found.steps[8].threshold, found.steps[8].ties, found.steps[8].kappa) == (0.075, 0.5, 1.0)
    assert (len(found.steps), found.equals) == (32, 24)  # 0.075 and 0.08 to 0.3


def test_kappas_that_differ_by_rounding_alone_are_equal(read: Any) -> None:
    """A sixth twice: computed as 0.16666666666666663 up to 0.04, as 0.16666666666666674 from 0.15 on."""
    said = (("tie", 0.25), ("tie", -0.15), ("tie", -0.15), ("b", -0.05), ("tie", -0.05))
    battles = [battle(f"b{i}", human=vote) for i, (vote, _) in enumerate(said)]
    for row, (_, margin) in zip(battles, said, strict=True):
        row["nugget_verdict"]["margin"] = margin
    (found,) = compute_threshold(read(*battles))
    kappas = {step.threshold: step.kappa for step in found.steps}
    assert kappas[0.0] == pytest.approx(1 / 6)
    assert kappas[0.15] == pytest.approx(1 / 6)
    assert kappas[0.0] != kappas[0.15]
    assert (found.best, found.equals) == (0.0, 15)


def test_human_ties_that_no_threshold_splits_have_no_even_split(read: Any) -> None:
    (found,) = compute_threshold(read(battle("t", human="tie", scores=(0.1, 0.9)), battle("b1")))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (None, None)
    assert "all human ties fall into one" in (found.equal_split.missing or "")
    ties = [battle(f"t{i}", human="tie", scores=each) for i, each in enumerate([(0.9, 0.1), (0.1, 0.9)])]
    (found,) = compute_threshold(read(*ties, battle("b1")))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (0.0, (0.5, 0.0, 0.5))


def test_thresholds_are_calibrated_on_human_ties_and_on_kappa(read: Any) -> None:
    rows = [
        battle("1", human="a", scores=(0.75, 0.25)),
        battle("2", human="b", scores=(0.25, 0.75)),
        *(battle(f"t{i}", human="tie", scores=(0.5, 0.5 + i / 8)) for i in (-1, 0, 1)),
    ]
    (found,) = compute_threshold(read(*rows))
    assert found.equal_split.threshold == 0.0
    assert found.equal_split.tie_row == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (found.by_kappa.threshold, found.by_kappa.kappa) == (0.125, 1.0)
    assert (found.by_kappa.ties, found.by_kappa.tie_row) == (0.6, (0.0, 1.0, 0.0))


def test_without_human_ties_no_threshold_can_split_them(read: Any) -> None:
    (found,) = compute_threshold(read(battle("1"), battle("2", human="b", scores=(0.1, 0.9))))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (None, None)
    assert found.equal_split.missing == "people call no battle a tie"
    assert (found.by_kappa.kappa, found.by_kappa.tie_row) == (1.0, None)


def test_when_everybody_ties_kappa_cannot_choose(read: Any) -> None:
    (found,) = compute_threshold(read(battle("1", human="tie", scores=(0.5, 0.5))))
    assert found.by_kappa.threshold is None
    assert "kappa is undefined" in (found.by_kappa.missing or "")
