"""How far two lenses agree, and what is said where they cannot be compared."""

from collections import Counter

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.comparison import LensAgreement
from nuggetstream.ratings.counts import JointCount
from nuggetstream.ratings.lens_agreement import agree
from nuggetstream.ratings.model import rate
from nuggetstream.ratings.options import Options
from nuggetstream.ratings.ties import TiePolicy
from tests.nuggetstream.ratings.counts import CIRCLE, counted, jointly

LENSES = (Lens.HUMAN, Lens.NUGGET)
ORDER = {"x": 1.0, "y": 0.0, "z": -1.0}


def compared(
    joint: list[JointCount], first: dict[str, float] | None = None, second: dict[str, float] | None = None
) -> LensAgreement:
    totals = Counter[tuple[Vote | None, Vote | None]]()
    for cell in joint:
        totals[cell.first, cell.second] += cell.count
    return agree(LENSES, totals, (first or {}, second or {}))


def test_kappa_is_the_one_worked_out_by_hand() -> None:
    found = compared(
        jointly(
            ("x", "y", Vote.A, Vote.A, 3),
            ("x", "y", Vote.A, Vote.B, 1),
            ("x", "z", Vote.B, Vote.A, 1),
            ("x", "z", Vote.B, Vote.B, 3),
            ("x", "z", Vote.B, None, 9),
            ("x", "z", None, Vote.A, 9),
        )
    )
    assert (found.battles, found.agreed, found.inverted) == (8, 6, 2)
    assert found.kappa == pytest.approx(0.5)  # 1 - 2 disagreements of 4 expected


def test_both_bad_is_a_tie() -> None:
    found = compared(
        jointly(("x", "y", Vote.BOTH_BAD, Vote.TIE, 2), ("x", "y", Vote.A, Vote.A, 1)),
    )
    assert (found.agreed, found.inverted, found.kappa) == (3, 0, 1)


def test_without_a_common_battle_there_is_no_kappa() -> None:
    found = compared(jointly(("x", "y", Vote.A, None, 2)))
    assert (found.battles, found.kappa) == (0, None)
    assert found.kappa_note == "No battle is decided by both."


def test_where_both_always_say_the_same_kappa_has_no_answer() -> None:
    found = compared(jointly(("x", "y", Vote.TIE, Vote.TIE, 2)))
    assert (found.agreed, found.kappa) == (2, None)
    assert found.kappa_note == "Both lenses always give the same outcome."


def test_orders_are_compared_over_the_systems_that_both_rank() -> None:
    swapped = {"x": 0.5, "y": 0.9, "z": -2.0, "only here": 7.0}
    found = compared([], ORDER, swapped)
    assert (found.systems, found.tau_b, found.rho) == (3, pytest.approx(1 / 3), pytest.approx(0.5))
    assert found.order_note is None


def test_two_systems_have_no_order_to_compare() -> None:
    found = compared([], {"x": 1.0, "y": 0.0}, ORDER)
    assert (found.systems, found.tau_b, found.rho) == (2, None, None)
    assert found.order_note == "2 systems are rated by both; an order needs at least 3."


def test_equal_ratings_have_no_order_whatever_a_fit_leaves_of_them() -> None:
    found = compared([], ORDER, {"x": 0.0, "y": 1e-12, "z": -1e-12})
    assert (found.tau_b, found.rho) == (None, None)
    assert "alike" in found.order_note


def test_strengths_are_of_those_that_can_be_ranked() -> None:
    counts = [*CIRCLE, *counted(("champion", "x", Vote.A, 3))]
    assert set(rate(counts).strengths) == {"x", "y", "z"}
    assert rate([]).strengths == {}
    assert rate(counted(("x", "y", Vote.TIE, 3)), Options(policy=TiePolicy.DAVIDSON)).strengths == {}
