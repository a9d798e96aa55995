"""What a sentence says about a claim by its numbers, dates, negations and names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.comparison import Relation, contradicts, relation

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
    assert relation(claim, sentence) in Relation


WALL = "The Berlin Wall was built in August 1961 and fell in November 1989."


@pytest.mark.parametrize(
    ("claim", "sentence", "relation_of_both"),
    [
        ("It was built in 1961.", WALL, Relation.AGREES),
        ("The Berlin Wall fell in November 1989.", WALL, Relation.AGREES),
        ("The Berlin Wall fell on 9 November 1989.", WALL, Relation.DIFFERS),
        ("The Berlin Wall fell on 9 November 1990.", WALL, Relation.CONTRADICTS),
        ("The Berlin Wall fell in 1961.", WALL, Relation.CONTRADICTS),
        (
            "The Berlin Wall fell in 1990.",
            "The Berlin Wall fell in 1989 and Germany was reunited in 1990.",
            Relation.CONTRADICTS,
        ),
        ("Unemployment is 5 percent.", "In 2010 unemployment was 10 percent.", Relation.DIFFERS),
        ("It costs 15 euros.", "It costs 10–20 euros.", Relation.DIFFERS),
        ("It costs 25 euros.", "It costs 10–20 euros.", Relation.CONTRADICTS),
        ("More than 20 people died.", "25 people died.", Relation.DIFFERS),
        ("The population is about 1.5 million.", "The population is 1,512,000.", Relation.AGREES),
        ("The lake is 1500 m deep.", "The lake is 1.5 km deep.", Relation.AGREES),
        ("At 55 degrees it works well.", "At 55 degrees Celsius it works well.", Relation.AGREES),
        ("The wall was built in 1961.", "It was not until 1961 that the wall was built.", Relation.AGREES),
        ("Napoleon lost the Battle of Waterloo.", "Napoleon won the Battle of Waterloo.", Relation.DIFFERS),
        ("Guenter Schabowski announced it.", "Günter Schabowski announced it.", Relation.AGREES),
        (
            "The total number of casualties in World War 1",
            "The total number of casualties in World War One is estimated at 37 million people.",
            Relation.DIFFERS,
        ),
        ("سقط الجدار عام ١٩٨٩.", "سقط الجدار عام 1989.", Relation.AGREES),
        ("ประเทศไทยมี 77 จังหวัด", "ประเทศไทยมี ๗๗ จังหวัด", Relation.AGREES),
        ("Der Umsatz stieg auf 14,5 Mio. Euro.", "Der Umsatz stieg auf 14.500.000 €.", Relation.AGREES),
    ],
)
def test_numbers_dates_and_names_say_what_a_sentence_says_about_a_claim(
    claim: str, sentence: str, relation_of_both: Relation
) -> None:
    assert relation(claim, sentence) is relation_of_both


def test_a_name_may_be_in_the_sentence_before_and_a_pronoun_has_the_subject_of_its_own_text() -> None:
    before = "The Berlin Wall divided a city."
    assert relation("The Berlin Wall fell in 1989.", "It fell in 1989.", before) is Relation.AGREES
    assert relation("The Berlin Wall fell in 1989.", "It fell in 1989.") is Relation.DIFFERS
    assert relation("It fell in 1989.", "Rome fell in 1989.", None, before) is Relation.DIFFERS


def test_a_part_of_a_claim_with_another_number_contradicts_it() -> None:
    claim = "The Eiffel Tower, which stands in Paris, is 300 m high."
    assert relation(claim, "The Eiffel Tower is 330 m high.") is Relation.CONTRADICTS
