"""Nuggets that only an answer states, and that a label says another answer contradicts."""

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.disputes import disputed_by_labels
from nuggetstream.domain.nugget import (
    Assignment,
    Grounding,
    Grounds,
    Importance,
    Nugget,
    NuggetList,
    Quotation,
    Support,
)

STATED = Quotation("answer:a", "A ride costs 50 cents.")
ANSWER_ONLY = Grounds(Grounding.ANSWER_ONLY, STATED)


def listed(grounds: Grounds | None) -> NuggetList:
    nugget = Nugget("n", "A ride costs 50 cents", Importance.VITAL, grounds=grounds)
    return NuggetList(
        nuggets=(nugget,), history=(), profile="live", sources="both", model="m", prompt_version="1"
    )


def label(support: Support, quote: str | None = None) -> Assignment:
    return Assignment("n", Side.B, support, quote)


@pytest.mark.parametrize(
    ("quote", "shown"),
    [("It costs 25 cents.", Quotation("answer:b", "It costs 25 cents.")), (None, STATED)],
)
def test_a_claim_of_one_answer_that_the_other_one_contradicts_is_disputed(
    quote: str | None, shown: Quotation
) -> None:
    found = disputed_by_labels(listed(ANSWER_ONLY), [label(Support.CONTRADICTION, quote)])
    assert [nugget.grounds for nugget in found.nuggets] == [Grounds(Grounding.DISPUTED, shown)]


@pytest.mark.parametrize(
    ("known", "support"),
    [
        (Grounds(Grounding.GROUNDED), Support.CONTRADICTION),  # the answer is wrong then
        (None, Support.CONTRADICTION),
        (ANSWER_ONLY, Support.NOT_SUPPORT),
    ],
)
def test_every_other_nugget_stays_as_it_is(known: Grounds | None, support: Support) -> None:
    before = listed(known)
    assert disputed_by_labels(before, [label(support)]) == before
