"""Features of style: length, headers, bold text, lists, citations."""

import re

from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.style import features

PARTS = ["**", "__", "*", "_", " ", "a", "b", "\n", "- ", "1. ", "# ", "```", "\t", "\r"]


def test_markup_is_counted_and_code_is_not_markup() -> None:
    text = "# A\n\n1. **x** and __y__\n* z\n```python\n# no header\n- no list\n```\n"
    assert features(text, 2).tolist() == [len(text), 2, 1, 2, 2]
    assert features("", 0).tolist() == [0] * 5


def test_stars_that_mean_times_are_not_bold() -> None:
    assert features("2 ** 3 ** 4", 0)[4] == 0


def by_definition(text: str) -> list[int]:
    """Headers, list items and bold passages as single patterns define them, which take quadratic time."""
    prose = re.sub(r"^```.*?(?:^```|\Z)", "", text, flags=re.S | re.M)
    patterns = (
        r"^ {0,3}#{1,6}\s",
        r"^\s*(?:[-*+]|\d{1,9}[.)])\s",
        r"(?:\*\*(?=\S)[^\n]+?(?<=\S)\*\*)|(?:__(?=\S)[^\n]+?(?<=\S)__)",
    )
    return [sum(1 for _ in re.finditer(pattern, prose, flags=re.M)) for pattern in patterns]


@given(st.lists(st.sampled_from(PARTS), max_size=25).map("".join))
def test_markup_is_counted_as_its_definition_says(text: str) -> None:
    assert features(text, 0)[2:].tolist() == by_definition(text)
