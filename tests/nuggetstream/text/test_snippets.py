"""A snippet is found in a text although both were cut, spaced and marked in other ways."""

import pytest

from nuggetstream.text.snippets import pieces, quotes

PAGE = (
    "Owls hunt at night. They hear mice under the snow from thirty metres away! Then they fly, silently. Yes."
)


@pytest.mark.parametrize(
    "snippet",
    [
        "They hear mice under the snow from thirty metres away!",
        "they  hear MICE under the snow\nfrom thirty metres",
        "... under the snow from thirty metres away! Then they ...",
        "Nobody knows when owls sleep in winter. […] Then they fly, silently.",
        "**Owls** hunt at “night”. They hear mice",
        "Yes.",
    ],
)
def test_a_snippet_is_found(snippet: str) -> None:
    assert quotes(snippet, PAGE)


@pytest.mark.parametrize(
    "snippet", ["", "…", "Owls sleep all winter in hollow trees.", "They hear mice. Yes."]
)
def test_other_words_are_not_found(snippet: str) -> None:
    assert not quotes(snippet, PAGE)


def test_a_sentence_of_few_letters_counts_only_alone() -> None:
    assert pieces("Yes. They hear mice under the snow.") == ("theyhearmiceunderthesnow",)
    assert pieces("Yes.") == ("yes",)


@pytest.mark.parametrize(
    ("snippet", "text"),
    [
        ("梟は雪の下の鼠を聞く。", "夜。梟は雪の下の鼠を聞く。飛ぶ。"),
        ("उल्लू बर्फ के नीचे चूहों को सुनता है।", "रात। उल्लू बर्फ के नीचे चूहों को सुनता है। वह उड़ता है।"),
        ("Ｏｗｌｓ hear ｍｉｃｅ under snow", "Owls hear mice under snow."),
    ],
)
def test_scripts_and_widths_do_not_matter(snippet: str, text: str) -> None:
    assert quotes(snippet, text)
