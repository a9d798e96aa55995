"""Verdicts read out of what a judge wrote."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.files.verdicts import NoVerdict, parse_verdict


@pytest.mark.parametrize(
    ("reply", "vote"),
    [
        ("Final verdict: [[A]]", Vote.A),
        ("[[b]]", Vote.B),
        ("[[ C ]]", Vote.TIE),
        ("[[Tie]]", Vote.TIE),
        ("Say [[A]] or [[B]]. I say [[B]]", Vote.B),
    ],
)
def test_the_last_verdict_counts_in_upper_and_lower_case(reply: str, vote: Vote) -> None:
    assert parse_verdict(reply) is vote


@pytest.mark.parametrize("reply", ["", "A is better", "[A]", "[[D]]", "[[A]] no, wait: [[neither]]", "[[]]"])
def test_a_reply_without_a_readable_verdict_is_not_a_tie(reply: str) -> None:
    with pytest.raises(NoVerdict):
        parse_verdict(reply)


@given(st.text(alphabet=st.characters(exclude_characters="[]")), st.sampled_from("ABCabc"))
def test_whatever_stands_before_the_verdict_changes_nothing(before: str, letter: str) -> None:
    assert parse_verdict(f"{before}[[{letter}]]") is parse_verdict(f"[[{letter.upper()}]]")
