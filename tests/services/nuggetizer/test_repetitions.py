"""Nuggets that repeat another one are merged and named; facts that differ in anything are not."""

import pytest

from nuggetstream.domain.nugget import Importance, MergedNugget
from services.nuggetizer.same_words import words_of
from services.nuggetizer.stage import Nuggetizer, Profile
from tests.services.nuggetizer.test_nuggetizer import created, live, reader

SAME = [
    ("Paris is the capital of France.", "paris is  the capital of France"),
    ("The album is called “Blue”.", "The album is called Blue"),
    ("It opened (in 1990).", "It opened in 1990;"),
    ("Der Turm ist «hoch».", "der Turm ist hoch!"),
    ("雨が降る。", "雨が降る"),
]
DIFFERENT = [
    ("The bridge is 3.5 km long.", "The bridge is 35 km long."),
    ("The bridge is 35 km long.", "The bridge is 36 km long."),
    ("It was signed on 3 May 1990.", "It was signed on 5 March 1990."),
    ("It was signed in 1990.", "It was signed in 1991."),
    ("It costs $5.", "It costs 5."),
    ("It costs $5.", "It costs €5."),
    ("It grew by 5%.", "It grew by 5."),
    ("The temperature is -5 degrees.", "The temperature is 5 degrees."),
    ("The share is .5 per day.", "The share is 5 per day."),
    ('The screen is 5" wide.', "The screen is 5 wide."),
    ("The result is 5!", "The result is 5."),
    ("The area is 10² km.", "The area is 102 km."),
    ("The drug is safe.", "The drug is not safe."),
    ("The drug is safe.", "The drug is unsafe."),
    ("It can't swim.", "It can swim."),
    ("Germany beat France.", "France beat Germany."),
    ("The treaty was signed in Paris.", "The treaty was signed in London."),
    ("The vaccine works for adults.", "The vaccine works for older adults."),
    ("All members agreed.", "Most members agreed."),
    ("Prices rose in May.", "Prices fell in May."),
    ("Is it safe?", "Is it safe."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_the_same_words_are_the_same_fact(one: str, other: str) -> None:
    assert words_of(one) == words_of(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_any_other_word_number_sign_or_order_is_another_fact(one: str, other: str) -> None:
    assert words_of(one) != words_of(other)


async def test_the_live_profile_merges_repetitions_and_says_so() -> None:
    model = live(
        ("Tea is a drink.", "okay", ["c1"]),
        ("“Tea” is a drink", "vital", ["c2"]),
        ("Tea is not a drink.", "okay", ["c1"]),
    )
    listed = await created(Nuggetizer(model))
    assert [(nugget.text, nugget.importance) for nugget in listed.nuggets] == [
        ("Tea is a drink.", Importance.VITAL),
        ("Tea is not a drink.", Importance.OKAY),
    ]
    assert [source.document for source in listed.nuggets[0].provenance] == ["chunk1", "chunk2"]
    (step,) = listed.history
    assert step.merged == (MergedNugget("“Tea” is a drink", "Tea is a drink."),)


async def test_the_paper_profile_merges_nothing() -> None:
    listed = await created(Nuggetizer(reader(), Profile.PAPER))
    assert all(step.merged == () for step in listed.history)
