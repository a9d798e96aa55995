"""Verdicts of a judge asked in both orders."""

import pytest

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.judgment import OrderedVerdict, combine_orders


def verdict(first: Side, winner: Vote) -> OrderedVerdict:
    return OrderedVerdict(first, winner, "because")


@pytest.mark.parametrize(
    ("winners", "combined", "flipped"),
    [
        ((Vote.A, Vote.A), Vote.A, False),
        ((Vote.TIE, Vote.TIE), Vote.TIE, False),
        ((Vote.A, Vote.B), Vote.TIE, True),
        ((Vote.TIE, Vote.B), Vote.TIE, True),
        ((Vote.B,), Vote.B, None),
    ],
)
def test_both_orders_combine(winners: tuple[Vote, ...], combined: Vote, flipped: bool | None) -> None:
    verdicts = [verdict(side, winner) for side, winner in zip(Side, winners, strict=False)]
    assert combine_orders(verdicts) == (combined, flipped)


def test_a_judge_that_said_nothing_is_not_a_tie() -> None:
    with pytest.raises(ValueError, match="no verdict"):
        combine_orders([])


def test_two_verdicts_on_one_order_say_nothing_about_order() -> None:
    again = [OrderedVerdict(Side.A, winner, "") for winner in (Vote.A, Vote.B)]
    with pytest.raises(ValueError, match="same order"):
        combine_orders(again)
