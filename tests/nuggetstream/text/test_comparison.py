"""Sentences that are the same statement with another number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.comparison import contradicts

TEXTS = st.text(alphabet="0123456789٣ .,-/%$年[]not no½²", max_size=80)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("A stamp costs 25 cents.", "A stamp costs 50 cents."),
        ("The committee has 9 members [1].", "The committee has 11 members [12]."),
        ("The fund holds $2.5 million.", "The fund holds $3.5 million"),
        ("Die Stadt hat 1.200 Einwohner.", "Die Stadt hat 1.300 Einwohner."),
        ("Spain had 12 and Italy 7 seats.", "Spain had 7 and Italy 12 seats."),
        ("门票价格为25元。", "门票价格为50元。"),
    ],
)
def test_the_same_words_with_another_number_contradict(claim: str, sentence: str) -> None:
    assert contradicts(claim, sentence)
    assert contradicts(sentence, claim)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("A stamp costs 25 cents.", "A stamp costs 25 cents."),
        ("A stamp costs 25 cents.", "A postcard costs 50 cents."),
        ("In 2019 the fund grew by 5 percent.", "In 2020 the fund grew by 7 percent."),
        ("The committee has 9 members [1].", "The committee has 9 members [12]."),
        ("The tank holds 10 gallons.", "The tank holds 37.9 litres."),
        ("The ticket costs $5.", "The ticket costs €4."),
        ("The fee is 1,200 euros.", "The fee is 1200 euros."),
        ("The fee is 1.200 euros.", "The fee is 1,2 euros."),
        ("It grew by 2.5 percent.", "It grew by 2.50 percent."),
        ("Costs 25 cents.", "Does it cost 50 cents?"),
    ],
)
def test_doubtful_differences_do_not_contradict(claim: str, sentence: str) -> None:
    assert not contradicts(claim, sentence)
    assert not contradicts(sentence, claim)


@given(TEXTS, TEXTS)
def test_any_text_can_be_compared_and_none_contradicts_itself(claim: str, sentence: str) -> None:
    assert not contradicts(claim, claim)
    assert contradicts(claim, sentence) in (True, False)
