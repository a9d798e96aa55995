"""Grades read out of what a model wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.rubric.self_rating import Reading, self_rating

DIGITS = [("0", 0), ("5", 5), (" 3 ", 3), ("3.", 3), ("(4)", 4)]


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize(("reply", "grade"), DIGITS)
def test_a_lone_digit_is_the_grade_in_every_reading(reading: Reading, reply: str, grade: int) -> None:
    assert self_rating(reply, reading) == grade


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize(
    "reply",
    ["", "6", "9", "35", "19.1", "25 km", "5 days", "5-day week", "2 or 3 months", "3-5", "3:30 pm", "1a"],
)
def test_an_answer_with_a_number_in_it_is_no_grade(reading: Reading, reply: str) -> None:
    assert self_rating(reply, reading) == 0


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("3: The answer has gaps.", 3),
        ("Rating: 4", 4),
        ("4/5", 4),
        ("2 - partly", 2),
        ("5\nbecause it says so", 5),
        ("1. Hardly.", 1),
    ],
)
def test_only_the_tolerant_reading_takes_a_digit_with_its_reason(reply: str, grade: int) -> None:
    assert self_rating(reply, Reading.TOLERANT) == grade
    assert self_rating(reply) == 0


@pytest.mark.parametrize("reading", Reading)
@pytest.mark.parametrize("reply", ["A", "d.", "CDG", "_"])
def test_letters_are_no_grade_in_any_reading(reading: Reading, reply: str) -> None:
    assert self_rating(reply, reading) == 0


@given(st.text(), st.sampled_from(Reading))
def test_every_reply_has_a_grade_on_the_scale(reply: str, reading: Reading) -> None:
    assert 0 <= self_rating(reply, reading) <= 5
