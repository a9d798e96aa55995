"""Sentences of which one denies the other."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.denials import is_denied


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("The vaccine changes your DNA a little.", "The vaccine does not change your DNA."),
        ("The bridge can carry trucks.", "The bridge can't carry trucks."),
        ("The tower was never painted.", "The tower was painted."),
        ("Die Brücke trägt schwere Lastwagen.", "Die Brücke trägt keine schweren Lastwagen."),
        (
            "The vaccine changes your DNA.",
            "The vaccine does not change or interact with your DNA in any way.",
        ),
        (
            "The vaccine changes your DNA.",
            "According to the World Health Organization, the vaccine does not change your DNA.",
        ),
        (
            "The vaccine changes your DNA a little, because it enters the nucleus of your cells.",
            "The vaccine does not change your DNA, since it never enters the nucleus.",
        ),
        ("The vaccine changes your DNA.", "It is a myth that the vaccine changes your DNA."),
        ("The vaccine changes your DNA.", "There is no evidence that the vaccine changes your DNA."),
        (
            "Lightning strikes a place twice.",
            "Experts agree that in no way does lightning strike a place twice.",
        ),
        (
            "The vaccine has an effect on fertility.",
            "Studies show that the vaccine has no effect on fertility at all.",
        ),
        ("Die Brücke trägt schwere Lastwagen.", "Die Brücke trägt keineswegs schwere Lastwagen."),
    ],
)
def test_the_same_statement_with_a_negation_is_a_denial(claim: str, sentence: str) -> None:
    assert is_denied(claim, sentence)
    assert is_denied(sentence, claim)


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        ("Tea contains caffeine.", "Herbal tea does not contain caffeine."),
        ("Tea contains some caffeine.", "Not all tea contains caffeine."),
        ("The dog bit the old man.", "The old man did not bite the dog."),
        ("The bridge is open.", "The bridge is open."),
        ("It is not open on Monday.", "It is not open on Sunday."),
        ("Cats sleep.", "Cats do not sleep."),  # too short to be sure
        (
            "The bridge over the river, which was built a century ago by the state, is open.",
            "The bridge is not open.",
        ),
        ("The museum is not only open on Sunday.", "The museum is open on Sunday."),
        ("The bridge carries trucks.", "The bridge does not carry trucks when it rains."),
        ("The bridge carries trucks.", "The law says that the old bridge does not carry trucks."),
        ("The song reached the top of the charts.", "The song reached No. 1, the top of the charts."),
        ("The bridge carries trucks.", "There is no evidence that the other bridge carries trucks."),
        ("More than 20 people died in the fire.", "No fewer than 20 people died in the fire."),
        ("The vaccine has an effect on fertility.", "The vaccine has no effect on the fertility of mice."),
    ],
)
def test_what_can_be_true_together_is_no_denial(claim: str, sentence: str) -> None:
    assert not is_denied(claim, sentence)
    assert not is_denied(sentence, claim)


@given(st.text(alphabet="abnot ne.'’n1", max_size=60), st.text(alphabet="abnot ne.'’n1", max_size=60))
def test_a_denial_goes_both_ways_and_no_text_denies_itself(text: str, other: str) -> None:
    assert is_denied(text, other) == is_denied(other, text)
    assert not is_denied(text, text)
