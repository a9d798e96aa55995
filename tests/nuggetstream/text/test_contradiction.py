"""Contradictions between a claim and a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.contradiction import Difference, contradicts
from tests.contradictions import PAIRS, Pair


@pytest.mark.parametrize(
    "pair", [pair for pair in PAIRS if pair.differs and not pair.apart and not pair.later], ids=str
)
def test_a_contradiction_is_found_with_its_kind(pair: Pair) -> None:
    found = contradicts(pair.claim, pair.text)
    assert found is not None
    assert found.difference.value == pair.differs


def test_few_of_the_other_pairs_are_called_contradictions() -> None:
    others = [pair for pair in PAIRS if pair.differs is None]
    assert len(others) > 70
    assert sum(pair.found for pair in others) <= 5


def test_a_number_of_something_with_another_name_is_no_contradiction() -> None:
    claim = "Unemployment in Spain fell to 12 percent in 2023."
    assert contradicts(claim, "Unemployment in Italy fell to 7.8 percent in 2023.") is None
    assert contradicts(claim, "Unemployment in Spain fell to 7.8 percent in 2023.") is not None


def test_most_contradictions_that_were_kept_apart_are_found() -> None:
    apart = [pair for pair in PAIRS if pair.differs and pair.apart]
    assert len(apart) > 20
    assert sum(pair.found for pair in apart) >= 0.7 * len(apart)


def test_what_differs_is_named() -> None:
    found = contradicts(
        "A stamp costs 25 cents.", "Stamps are old. A stamp costs 50 cents today. They stick."
    )
    assert found is not None
    assert (found.difference, found.claimed, found.stated) == (Difference.NUMBER, "25 cents", "50 cents")
    assert found.sentence == "A stamp costs 50 cents today."


def test_a_negation_is_named_where_it_stands() -> None:
    found = contradicts("The fee is refundable.", "The fee is never refundable.")
    assert found is not None
    assert (found.difference, found.claimed, found.stated) == (Difference.NEGATION, None, "never")


def test_a_text_that_states_the_claim_as_well_does_not_contradict_it() -> None:
    assert (
        contradicts("A stamp costs 25 cents.", "A stamp costs 50 cents in Rome. A stamp costs 25 cents.")
        is None
    )


def test_another_number_at_another_time_is_no_contradiction() -> None:
    assert contradicts("In 2019 the fund grew by 5 percent.", "In 2020 the fund grew by 7 percent.") is None


def test_a_citation_marker_is_no_number() -> None:
    assert contradicts("The committee has 9 members [1].", "The committee has 9 members [12].") is None


def test_a_question_states_nothing() -> None:
    assert contradicts("The fee is refundable.", "Is the fee not refundable?") is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The tank holds 10 gallons.", "The tank holds 37.9 litres."),
        ("The rent is $500 per month.", "The rent is $6,000 per year."),
        ("Water boils at 100 degrees Celsius.", "Water boils at 212 degrees Fahrenheit."),
        ("The flight takes one and a half hours.", "The flight takes 90 minutes."),
        ("The prize is €2.5bn.", "The prize is 2,500 million euros."),
        ("The shop sold twenty-five bikes.", "The shop sold 25 bikes."),
        ("The talks ended on 03/04/2020.", "The talks ended on 3 April 2020."),
    ],
)
def test_other_notations_and_units_of_the_same_value_agree(claim: str, text: str) -> None:
    assert contradicts(claim, text) is None


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("The tank holds 10 gallons.", "The tank holds 10 litres."),
        ("The rent is $500 per month.", "The rent is $500 per year."),
        ("The prize is €2.5bn.", "The prize is 2.5 million euros."),
        ("The shop sold twenty-five bikes.", "The shop sold 35 bikes."),
        ("The talks ended on 03/04/2020.", "The talks ended on 5 April 2020."),
        ("At least 20 people live there.", "Only 5 people live there."),
    ],
)
def test_other_values_differ(claim: str, text: str) -> None:
    assert contradicts(claim, text) is not None


@given(st.text(max_size=300))
def test_no_text_contradicts_itself(text: str) -> None:
    assert contradicts(text, text) is None


@given(st.text(alphabet="0123456789 .,-/%$年月nот no½²", max_size=200), st.text(max_size=200))
def test_any_text_can_be_read(claim: str, text: str) -> None:
    contradicts(claim, text)
    contradicts(text, claim)
