"""Cited passages: the snippet and the range of characters that come with a source."""

from typing import Any

import pytest

from nuggetstream.domain.battle import CitedPassage, Source
from nuggetstream.files.sources import MAX_PASSAGES, MAX_SNIPPET_BYTES
from nuggetstream.files.submission import InvalidSubmission, parse_submission, submission_of

URL = "https://example.org/owls"
SNIPPET = "Owls hear mice under the snow."


def of(*sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "query": "How do owls hunt?",
        "a": {"system": "left", "text": "By ear.", "sources": list(sources)},
        "b": {"system": "right", "text": "At night."},
    }


def read(*sources: dict[str, Any]) -> tuple[Source, ...]:
    return parse_submission(of(*sources)).to_core().a.sources


@pytest.mark.parametrize("name", ["snippet", "cited_text", "quote", "excerpt"])
@pytest.mark.parametrize(
    ("start", "end"), [("start", "end"), ("start_char", "end_char"), ("start_char_index", "end_char_index")]
)
def test_a_cited_passage_is_kept_under_the_names_that_others_use(name: str, start: str, end: str) -> None:
    sent = {"url": URL, name: SNIPPET, start: 10, end: 40}
    assert read(sent) == (Source(URL, snippet=SNIPPET, start=10, end=40),)


def test_a_range_of_a_supplied_text_is_its_snippet() -> None:
    text = f"Night falls. {SNIPPET} They fly."
    [source] = read({"url": URL, "text": text, "start": 13, "end": 13 + len(SNIPPET)})
    assert (source.snippet, source.text) == (SNIPPET, text)


def test_a_range_without_words_is_kept() -> None:
    assert read({"url": URL, "start": 0, "end": 7}) == (Source(URL, start=0, end=7),)


def test_a_source_that_is_named_twice_has_the_cited_passages_of_both() -> None:
    again = {"url": URL, "snippet": "They fly without a sound."}
    assert read({"url": URL}, again)[0].snippet == again["snippet"]
    first = {"url": URL, "snippet": SNIPPET, "start": 1, "end": 9}
    [source] = read(first, again, {"url": URL}, {"url": URL, "start": 20, "end": 30}, again)
    assert source.cited == (
        CitedPassage(SNIPPET, 1, 9),
        CitedPassage("They fly without a sound."),
        CitedPassage(None, 20, 30),
    )
    long = "x" * MAX_SNIPPET_BYTES
    assert len(read({"url": URL, "snippet": long}, again)[0].cited) == 2


def test_all_passages_of_a_source_can_come_at_once() -> None:
    passages = [
        {"cited_text": SNIPPET, "start_char_index": 0, "end_char_index": 30},
        {"start": 40, "end": 50},
    ]
    [source] = read({"url": URL, "passages": passages})
    assert source.cited == (CitedPassage(SNIPPET, 0, 30), CitedPassage(None, 40, 50))
    assert (source.snippet, len(source.passages)) == (SNIPPET, 1)
    [source] = read({"url": URL, "text": f"{SNIPPET} They fly.", "passages": [{"start": 31, "end": 40}]})
    assert source.cited == (CitedPassage("They fly.", 31, 40),)


def test_too_many_passages_are_rejected_and_none_is_dropped() -> None:
    many = [{"url": URL, "start": n, "end": n + 1} for n in range(MAX_PASSAGES + 1)]
    assert len(read(*many[1:])[0].cited) == MAX_PASSAGES
    with pytest.raises(InvalidSubmission, match=f"sources: {URL} has 51 cited passages; at most 50"):
        parse_submission(of(*many))


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({"start": 1}, "a.sources.0: start and end: one is given without the other"),
        ({"start": 5, "end": 5}, "a.sources.0: start and end: 5 to 5 is no range"),
        (
            {"start": 1, "end": 9, "text": "Owls."},
            "a.sources.0: end: is 9, after the 5 characters of the text",
        ),
        ({"start": -1, "end": 2}, "a.sources.0.start: Input should be greater than or equal to 0"),
        ({"snippet": "a\x00"}, "a.sources.0.snippet: contains a NUL character"),
        (
            {"snippet": "x" * 10_001},
            "a.sources.0.snippet: is 10,001 bytes long; at most 10,000 are accepted",
        ),
        ({"snippet": "x", "quote": "y"}, "a.sources.0.quote: is not a field of a battle"),
        ({"passages": [{}]}, "a.sources.0.passages.0: has neither a snippet nor a range"),
        ({"passages": [{"end": 1}]}, "a.sources.0.passages.0: start and end: one is given without the other"),
        (
            {"passages": [{"start": 1, "end": 9}], "text": "Owls."},
            "a.sources.0: passages.0.end: is 9, after the 5 characters of the text",
        ),
        (
            {"passages": [{"snippet": "x"}] * 51},
            "a.sources.0.passages: is 51 long; at most 50 are accepted",
        ),
    ],
)
def test_what_is_no_passage_is_named(source: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidSubmission) as wrong:
        parse_submission(of({"url": URL} | source))
    assert wrong.value.problems == [problem]


def test_a_passage_makes_another_battle_and_none_leaves_the_id_as_it_was() -> None:
    plain, cited = (
        parse_submission(of({"url": URL} | more)).to_core() for more in ({}, {"snippet": SNIPPET})
    )
    # An id that an earlier version derived: stored battles keep theirs.
    assert plain.id == "276bc75be9d8b03a7e1b9b531f0e8d45"
    assert cited.id != plain.id
    assert parse_submission(of({"url": URL, "snippet": "", "start": None})).to_core().id == plain.id


def test_a_passage_survives_another_door() -> None:
    further = [{"snippet": "They fly."}, {"start": 40, "end": 50}]
    sent = {"url": URL, "snippet": SNIPPET, "start": 1, "end": 9, "passages": further}
    battle = parse_submission(of(sent)).to_core()
    assert len(battle.a.sources[0].cited) == 3
    assert submission_of(battle, None).to_core() == battle
    assert battle.without_source_texts().a.sources == battle.a.sources
