"""Features of style: length, headers, bold text, lists, citations."""

from nuggetstream.text.style import features


def test_markup_is_counted_and_code_is_not_markup() -> None:
    text = "# A\n\n1. **x** and __y__\n* z\n```python\n# no header\n- no list\n```\n"
    assert features(text, 2).tolist() == [len(text), 2, 1, 2, 2]
    assert features("", 0).tolist() == [0] * 5


def test_stars_that_mean_times_are_not_bold() -> None:
    assert features("2 ** 3 ** 4", 0)[4] == 0
