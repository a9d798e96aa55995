"""The answers as texts: length, citations, closeness to the evidence."""

from typing import Any

import pytest

from nuggetstream.report.numbers.answers import compute_answers
from tests.evaluated import answer, battle


def test_citations_are_counted_per_answer_and_per_source(read: Any) -> None:
    rows = [
        battle("1", a="left", b="right") | {"a": answer("Tides rise [1]. They fall [1, 2].")},
        battle("2", a="left", b="right") | {"a": answer("No source at all.")},
    ]
    left, right = compute_answers(read(*rows)).systems
    assert (left.words.value, left.median_words, left.words.answers) == (5.5, 5.5, 2)
    assert (left.citations.value, left.cited.value) == (1.5, 1.0)
    assert (left.repeats.value, left.repeats.answers) == (1.5, 1)
    assert (right.citations.value, right.repeats.value, right.repeats.answers) == (0.0, None, 0)


def test_where_and_in_which_order_sources_are_cited(read: Any) -> None:
    rows = [
        battle("1", a="left", b="right") | {"a": answer("ab [1] [2]")},  # at 3 and 7 of 10 characters
        battle("2", a="left", b="right") | {"a": answer("[2] ab [1]")},  # at 0 and 7 of 10
        battle("3", a="left", b="right") | {"a": answer("ab [4]")},  # at 3 of 6, and no order
    ]
    left, right = compute_answers(read(*rows)).systems
    assert (left.position.value, left.position.answers) == (pytest.approx((0.5 + 0.35 + 0.5) / 3), 3)
    assert (left.in_order.value, left.in_order.answers) == (0.5, 2)
    assert (right.position.value, right.in_order.value) == (None, None)


def test_a_citation_of_a_page_that_does_not_exist_does_not_count(read: Any) -> None:
    pages = [{"state": "ok"}, {"state": "ok"}]
    rows = [battle(str(number)) | {"a": answer("ab [1, 2]") | {"sources": pages}} for number in range(2)]
    rows.append(battle("2") | {"a": answer("ab [1] [3]") | {"sources": pages}})
    left, right = compute_answers(read(*rows)).systems
    assert (left.citations.value, left.invalid.value) == (pytest.approx(5 / 3), pytest.approx(1 / 3))
    assert right.invalid.value is None  # no pages: nothing bounds the numbers
    beyond, _ = compute_answers(read(rows[2])).systems
    assert (beyond.citations.value, beyond.invalid.value) == (2, None)  # the numbers name a longer list


def test_bleu_is_of_the_answer_against_the_passages(read: Any) -> None:
    row = battle("1") | {"a": answer("Tides follow the moon."), "b": answer("…", "right")}
    row["evidence"] = [{"chunk_id": "c", "text": "Tides follow the moon."}]
    left, right = compute_answers(read(row)).systems
    assert (left.bleu.value, left.bleu.answers) == (pytest.approx(100), 1)
    assert (right.bleu.value, right.bleu.answers) == (None, 0)
    without, _ = compute_answers(read(battle("1"))).systems
    assert (without.bleu.value, without.bleu.answers) == (None, 0)


def test_a_copied_sentence_is_as_close_as_can_be(read: Any) -> None:
    row = battle("1") | {"a": answer("Tides follow the moon. Bananas!"), "b": answer("Often.", "right")}
    row["evidence"] = [{"chunk_id": "c", "text": "Once upon a time. Tides follow the moon."}]
    left, right = compute_answers(read(row)).systems
    assert left.closeness.value == 0.5
    assert right.closeness.value == 0.0
    without, _ = compute_answers(read(battle("1"))).systems
    assert (without.closeness.value, without.closeness.answers) == (None, 0)


def test_reading_ease_is_for_english_and_variety_for_a_hundred_words(read: Any) -> None:
    german = battle("1", language="de") | {"a": answer("eins zwei " * 50)}
    english = battle("2", language="en-GB") | {"a": answer("The cat sat.")}
    left, right = compute_answers(read(german, english, battle("3", language=""))).systems
    assert (left.ease.answers, right.ease.answers) == (1, 1)
    assert left.ease.value == pytest.approx(206.835 - 1.015 * 3 - 84.6)  # three words of one syllable
    assert (left.variety.value, left.variety.answers) == (0.02, 1)
    assert right.variety.value is None


def test_an_answer_without_words_has_no_length(read: Any) -> None:
    silent = battle("1") | {"a": answer(""), "b": answer("…", "right")}
    found = compute_answers(read(silent))
    assert [each.words.value for each in found.systems] == [None, None]
    assert [each.ease.value for each in found.systems] == [None, None]
    assert (found.overlap, found.compared) == (None, 0)
