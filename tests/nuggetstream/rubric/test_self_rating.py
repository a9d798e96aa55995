"""Grades read out of what a model wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.rubric.self_rating import self_rating

DIGITS = [("0", 0), ("5", 5), (" 3 ", 3), ("3.", 3), ("(4)", 4)]


@pytest.mark.parametrize(("reply", "grade"), DIGITS)
def test_a_lone_digit_is_the_grade(reply: str, grade: int) -> None:
    assert self_rating(reply) == grade


@pytest.mark.parametrize(
    "reply",
    ["", "6", "9", "35", "19.1", "25 km", "5 days", "5-day week", "2 or 3 months", "3-5", "3:30 pm", "1a"],
)
def test_an_answer_with_a_number_in_it_is_no_grade(reply: str) -> None:
    assert self_rating(reply) == 0


@pytest.mark.parametrize("reply", ["3: gaps.", "Rating: 4", "4/5", "A", "d.", "CDG", "_"])
def test_words_beside_a_digit_and_letters_are_no_grade(reply: str) -> None:
    assert self_rating(reply) == 0


@given(st.text())
def test_every_reply_has_a_grade_on_the_scale(reply: str) -> None:
    assert 0 <= self_rating(reply) <= 5
