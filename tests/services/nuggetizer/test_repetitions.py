"""Near-duplicates among nuggets are merged and named; facts that differ in anything are not."""

import pytest

from nuggetstream.domain.nugget import Importance, MergedNugget
from services.nuggetizer.near_duplicates import fact_of
from services.nuggetizer.same_words import words_of
from services.nuggetizer.stage import Nuggetizer, Profile
from services.runtime.llm.replies import WindowReply
from tests.near_duplicates import PAIRS, Pair, recall
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
    assert fact_of(one) != fact_of(other)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if not pair.same], ids=str)
def test_different_facts_are_never_merged(pair: Pair) -> None:
    assert fact_of(pair.one) != fact_of(pair.other)


def test_near_duplicates_in_nine_languages_and_more_are_found() -> None:
    assert len(PAIRS) >= 80
    by_language = {
        pair.language: recall(fact_of, [p for p in PAIRS if p.language == pair.language]) for pair in PAIRS
    }
    assert len(by_language) >= 9
    assert all(found for found, _ in by_language.values())
    assert recall(words_of, PAIRS)[0] < recall(fact_of, PAIRS)[0]


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


async def test_the_live_profile_merges_near_duplicates_and_keeps_other_numbers() -> None:
    model = live(
        ("The lake is 12 km long.", "vital", ["c1"]),
        ("The lake is 12 kilometres long.", "okay", ["c2"]),
        ("The lake is 21 km long.", "okay", ["c1"]),
    )
    listed = await created(Nuggetizer(model))
    assert [nugget.text for nugget in listed.nuggets] == [
        "The lake is 12 km long.",
        "The lake is 21 km long.",
    ]
    (step,) = listed.history
    assert step.merged == (MergedNugget("The lake is 12 kilometres long.", "The lake is 12 km long."),)


async def test_the_paper_profile_merges_nothing() -> None:
    texts = ["The lake is 12 km long.", "The lake is 12 kilometres long."]
    model = reader()
    model.script = {**model.script, "nuggets_window": lambda _: WindowReply(nuggets=texts)}
    listed = await created(Nuggetizer(model, Profile.PAPER))
    assert [nugget.text for nugget in listed.nuggets] == texts
    assert all(step.merged == () for step in listed.history)
