"""Sentences of the answers, and whether a source states them."""

from typing import Any

from nuggetstream.report.blocks import BattleLink
from tests.evaluated import battle
from tests.nuggetstream.report.parts import PARTS, built

SEA, SUN = "https://sea.example/", "https://sun.example/"


def graded(name: str, *values: tuple[int, str, float], side: str = "a") -> dict[str, Any]:
    grades = [
        {
            "subject": "citation",
            "sides": [side],
            "document": document,
            "sentence": number,
            "criterion": "support",
            "scale": "0-1",
            "value": value,
        }
        for number, document, value in values
    ]
    source = {"state": "fetched", "quality": "ok"}
    answer = {"system": "left", "text": "It is [1, 2]. It was. It will be.", "sources": [source, source]}
    return battle(name) | {
        "a": answer,
        "gradings": [{"evaluator": "citation_support", "model": "m", "grades": grades}],
    }


def test_each_sentence_counts_once_with_its_best_source(read: Any) -> None:
    content, numbers = built(
        "support",
        read(graded("b1", (1, SEA, 0.0), (1, SUN, 1.0), (2, SEA, 0.5), (3, SEA, 0.0)), battle("b2")),
    )
    [left] = numbers["systems"]
    assert (left["system"], left["answers"], left["full"], left["partial"]) == ("left", 1, 1, 1)
    assert (left["unsupported"]["count"], left["unsupported"]["of"]) == (1, 3)
    assert numbers["sentences"] == ({"battle": "b1", "system": "left", "text": "It will be."},)
    assert content.findings[0].startswith("1 of 3 checked sentences")
    assert content.blocks[1].rows == [(BattleLink("b1", "It will be."), "b1", "left")]


def test_a_sentence_with_a_citation_that_was_not_graded_is_no_case(read: Any) -> None:
    assert PARTS["support"].compute(read(graded("b1", (1, SEA, 0.0)))).systems == ()


def test_without_grades_the_section_says_what_makes_them(read: Any) -> None:
    content, _ = built("support", read(battle("b1")))
    [notice] = content.blocks
    assert "citation_support" in notice.why
    assert content.findings == ()
