"""Excerpts keep what resembles the query or an answer, and say where it stands."""

from dataclasses import replace

import pytest

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.nuggets.excerpts import excerpts
from tests import samples

ANSWERED = samples.battle(a="The Moon raises two bulges.", b="Spring tides need the Sun in line.")
BATTLE = replace(ANSWERED, query="How does the Moon raise spring tides?")
NOISE = "Cookies help us to serve you better."
MOON = "The Moon raises two bulges of water."
SUN = "Spring tides occur when the Sun is in line."


def passage(number: int, text: str, *cited_by: Side) -> Evidence:
    url = f"https://example.org/{number}"
    return Evidence(f"c{number}", text, url, None, f"h{number}", None, cited_by=cited_by, score=1.0)


def test_short_evidence_stays_as_it_is() -> None:
    evidence = [passage(1, f"{NOISE}\n\n{MOON}"), passage(2, NOISE)]
    assert excerpts(evidence, BATTLE, 1000) == evidence


def test_evidence_that_is_cut_a_little_only_can_be_shown_whole() -> None:
    evidence = [passage(1, f"{NOISE} {MOON}")]
    assert excerpts(evidence, BATTLE, 40) != evidence
    assert excerpts(evidence, BATTLE, 40, whole=80) == evidence
    assert excerpts(evidence, BATTLE, 40, whole=60) == excerpts(evidence, BATTLE, 40)


def test_of_sentences_that_say_the_same_the_shorter_is_shown() -> None:
    long = f"{MOON[:-1]}, as guides of many a coast explain in booklets printed for visitors."
    assert [item.chunk_id for item in excerpts([passage(1, long), passage(2, MOON)], BATTLE, 120)] == ["c2"]


def test_sentences_that_resemble_nothing_are_left_out_first_and_the_others_keep_their_order() -> None:
    evidence = [passage(1, f"{NOISE} {SUN} Sign up for our letter. {MOON}"), passage(2, "Sadly, no page.")]
    shown = [(item.chunk_id, item.text) for item in excerpts(evidence, BATTLE, 90)]
    assert shown == [("c1", f"{SUN} {MOON}")]


@pytest.mark.parametrize("characters", [0, 1, 40, 60, 90, 130, 200])
def test_no_excerpt_is_longer_than_the_limit(characters: int) -> None:
    evidence = [
        passage(n, f"{MOON[:-1]} in {n} seas. {SUN[:-1]} {n} times a year. {NOISE}") for n in range(9)
    ]
    assert sum(len(item.text) for item in excerpts(evidence, BATTLE, characters)) <= characters


def test_a_sentence_of_several_passages_is_shown_once_and_again_where_another_side_cites_it() -> None:
    same = [
        passage(1, MOON, Side.A),
        passage(2, MOON.upper()),
        passage(3, MOON, Side.A),
        passage(4, MOON, Side.B),
    ]
    shown = excerpts(same, BATTLE, 120)
    assert [item.chunk_id for item in shown] == ["c1", "c4"]


def test_the_answers_choose_in_turn() -> None:
    about_a = [passage(n, f"The Moon raises two bulges, says source {n} of many.") for n in range(20)]
    shown = excerpts([*about_a, passage(99, SUN)], BATTLE, 150)
    assert "c99" in {item.chunk_id for item in shown}


@pytest.mark.parametrize("text", ["ภาษาไทย" * 1000, "one two three " * 500, "潮汐と月" * 1000])
def test_a_text_without_sentences_is_shown_in_part(text: str) -> None:
    shown = excerpts([passage(1, text)], samples.battle(a=text[:300], b=""), 1000)
    assert [item.chunk_id for item in shown] == ["c1"]
    assert 300 < len(shown[0].text) <= 1000
    assert set(shown[0].text) <= {*text, " "}
