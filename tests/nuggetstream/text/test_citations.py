"""Citation marks: every shape that people and models type, and numbers that no source has."""

import csv
import gzip
import json
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.text.citations import (
    MOST_CITATIONS,
    citation_use,
    numbers_name_own_sources,
    parse_citations,
    without_citations,
)
from nuggetstream.text.cited_sentences import citing_sentences
from nuggetstream.text.markup import blank_code, prose


def cited(text: str, sources: int | None = None, first: int | None = None) -> list[int]:
    return [citation.source for citation in parse_citations(text, sources, first).valid]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Rivers rise [7].", [7]),
        ("[0,1] and [0, 1]", [0, 1, 0, 1]),
        ("[0,]", [0]),
        ("[ 3,6,13]", [3, 6, 13]),
        ("[3, 6 ]", [3, 6]),
        ("[6 9]", [6, 9]),
        ("[0, 1, 4 16, 17]", [0, 1, 4, 16, 17]),
        ("[1;2] [1 & 2] [1 and 2]", [1, 2] * 3),
        ("[2-4] [2–4] [2 - 4, 7]", [2, 3, 4] * 3 + [7]),
        ("[1][2], word[3]", [1, 2, 3]),
        ("[^1] and [[2]](https://example.org)", [1, 2]),
        ("【4†source】 and 【5】", [4, 5]),
        ("Rise 【4:0†source】. Pull 【4:1†tides.pdf】. Rise 【4:0†source】.", [0, 1, 0]),
        ("First 【4:7†a】, then 【9:0†b】 and again 【4:7†a】.", [0, 1, 0]),
        ("[81-100]", list(range(81, 101))),
        ("[1,\n2]", [1, 2]),
    ],
)
def test_marks_are_read_as_people_and_models_type_them(text: str, numbers: list[int]) -> None:
    assert cited(text) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "See [the page](https://example.org) or [1](https://example.org).",
        "[1]: https://example.org",
        "in [1998], [...], [x], [], [ , ]",
        "a vector [0.9, 0.1, 0.1]",
        "Call `ids[1]` or ``a`[2]``.",
        "```python\nids=[1, 2, 3]\n```",
        "~~~\nids=[1, 2, 3]\n",
        "0,7] and [8[ are typing errors",
        "[4-2]",
        "between [10-90] and [0-999] of them, or [7, 100 – 999]",
    ],
)
def test_what_only_looks_like_a_mark_is_no_citation(text: str) -> None:
    assert cited(text) == []
    assert citation_use(text).in_order is None


def test_a_line_of_inline_code_opens_no_block() -> None:
    assert cited("```ids[1]``` is code\nand [2] is none") == [2]
    assert cited("```\n``` python [1]\n```\nRivers [2].") == [2]  # a fence with more text closes no block


def test_code_in_a_list_is_code() -> None:
    text = "- In short:\n\n    ```python\n    tide = rise(moon) [1]\n    ```\n- The Moon [2]."
    assert cited(text) == [2]
    assert prose(text) == "- In short:\n- The Moon [2]."


@pytest.mark.parametrize(
    "text",
    [
        "<table>\n<tr><td>The Moon raises two tides.</td></tr>\n</table>",
        "<PRE>\nrise(moon)\n</PRE>",
        "<h2>What raises the tides</h2>",
        "1. **What raises the tides**",
        "| The Moon | raises two tides |",
    ],
)
def test_tables_code_and_headings_are_no_prose_in_html_nor_without_their_first_lines(text: str) -> None:
    assert prose(f"Twice a day.\n{text}\nThe Moon.") == "Twice a day.\nThe Moon."


@pytest.mark.parametrize("text", ["1. **Gravity** raises the tides.", "Use a <table> for this.", "a | b"])
def test_what_only_looks_like_a_table_or_a_heading_is_prose(text: str) -> None:
    assert prose(text) == text


def test_code_ends_where_its_fence_or_its_paragraph_does() -> None:
    text = "```\n[1]\n```\nRivers [2].\n\nA ` alone\n\nand ` another [3]."
    assert cited(text) == [2, 3]


@pytest.mark.parametrize(
    ("text", "sources", "first", "valid", "invalid"),
    [
        ("[1] [20] [21]", 20, None, [1, 20], [21]),
        ("[0, 2, 21]", 20, None, [0, 2], [21]),
        ("[0] [19] [20]", 20, None, [0, 19], [20]),  # counts from 0: the last source is 19
        ("[19] [20]", 20, 0, [19], [20]),  # known to count from 0, though this text does not cite 0
        ("[0] [1]", None, 1, [1], [0]),
        ("[1]", 0, None, [], [1]),
        ("[0] [999]", None, None, [0, 999], []),  # unknown number of sources
        ("[18-22]", 20, None, [18, 19, 20], [21, 22]),
    ],
)
def test_a_number_that_no_source_has_is_invalid_and_does_not_count(
    text: str, sources: int | None, first: int | None, valid: list[int], invalid: list[int]
) -> None:
    citations = parse_citations(text, sources, first)
    assert [citation.source for citation in citations.valid] == valid
    assert [citation.source for citation in citations.invalid] == invalid
    use = citation_use(text, sources, first)
    assert (use.count, use.invalid) == (len(valid), tuple(invalid))


@pytest.mark.parametrize(("sources", "first"), [(-1, None), (3, 2), (3, -1)])
def test_impossible_numbers_of_sources_are_refused(sources: int, first: int | None) -> None:
    with pytest.raises(ValueError, match="at least 0"):
        parse_citations("[1]", sources, first)


def test_citations_are_counted_in_order_with_reuse_and_position() -> None:
    use = citation_use("One [1]. Two [3, 1]. Three [2-4].")
    assert (use.count, use.order) == (6, (1, 3, 2, 4))
    assert use.reuse == {1: 2, 3: 2, 2: 1, 4: 1}
    assert use.in_order is False
    assert use.positions[0] == pytest.approx(4 / 33)
    assert list(use.positions) == sorted(use.positions)
    assert citation_use("One [7].").in_order is None


def test_prose_without_marks_keeps_everything_else() -> None:
    text = "Rivers rise [1, 2].\n- Dams[3] help `x[1]` [6 9]"
    assert without_citations(text) == "Rivers rise.\n- Dams help `x[1]`"


def test_a_range_that_is_no_mark_stays_in_the_prose() -> None:
    assert without_citations("Some [10-90] percent [1-3].") == "Some [10-90] percent."


def test_a_text_of_marks_alone_costs_little_memory() -> None:
    text = "[0-999]" * 14_000 + "[1-20]" * 17_000
    tracemalloc.start()
    try:
        use = citation_use(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert use.count == MOST_CITATIONS
    assert peak < 20_000_000


def test_sources_of_an_assistants_message_count_from_zero() -> None:
    citations = parse_citations("The Moon pulls 【4:1†source】.", sources=2)
    assert (citations.first, [citation.source for citation in citations.valid]) == (0, [1])
    assert [c.source for c in citing_sentences("The Moon pulls 【4:1†source】.", 2)[0]] == [1]
    assert [c.source for c in parse_citations("Wind 【4:2†source】.", sources=2).invalid] == [2]


@given(st.text(st.sampled_from("[]()【】†0129 ,;-–^:`~\nax"), max_size=60))
def test_any_text_is_read_and_positions_lie_on_its_marks(text: str) -> None:
    assert len(blank_code(text)) == len(text)
    citations = parse_citations(text)
    assert all(text[citation.position] in "[【" for citation in citations.valid)
    assert citations.invalid == ()
    assert parse_citations(text, sources=1000).valid == citations.valid


def test_numbers_beyond_the_stored_sources_of_most_answers_refer_to_a_longer_list() -> None:
    beyond, within = ("Rain [9].", 2), ("Snow [2].", 2)
    assert numbers_name_own_sources([beyond, within])
    assert not numbers_name_own_sources([beyond, beyond, within])
    assert numbers_name_own_sources([("Rain [9].", 0), ("Rain.", 2)])  # nothing speaks against it


def test_recorded_answers_of_20_sources_hold_2730_citations_and_one_invalid_number(
    recorded_data: Path,
) -> None:
    with gzip.open(recorded_data / "crowdrag25" / "battles.jsonl.gz", "rt", encoding="utf-8") as lines:
        battles = [json.loads(line) for line in lines]
    answers = {battle[side]["response_id"]: battle[side] for battle in battles for side in "ab"}
    uses = {name: citation_use(answer["text"], sources=20) for name, answer in answers.items()}
    assert sum(use.count for use in uses.values()) == 2730
    assert [use.invalid for use in uses.values() if use.invalid] == [(21,)]
    # The data lists the different sources that each answer cites.
    listed = {name: len(set(answer["citations"])) for name, answer in answers.items()}
    assert sum(len(use.order) == listed[name] for name, use in uses.items()) == len(answers)
    assert not numbers_name_own_sources((answer["text"], listed[name]) for name, answer in answers.items())


def test_recorded_answers_with_vectors_in_their_code_cite_nothing(recorded_data: Path) -> None:
    with (recorded_data / "ragelo" / "answers.csv").open(encoding="utf-8", newline="") as file:
        texts = [row["answer"] for row in csv.DictReader(file)]
    assert sum("[1, 2, 3]" in text for text in texts) == 4
    assert sum(citation_use(text).count for text in texts) == 0
