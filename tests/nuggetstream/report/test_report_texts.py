"""What the report measures on single battles: certainty, thresholds, texts, passages, time and money."""

from pathlib import Path
from typing import Any

import pytest

from nuggetstream.report import numbers
from nuggetstream.report.numbers.grounding import grounding
from nuggetstream.report.rows import read_results
from tests.evaluated import battle, file_of, nugget


@pytest.fixture
def read(tmp_path: Path) -> Any:
    return lambda *battles: read_results(file_of(tmp_path, battles))


def nuggets(count: int, a: str | None = "support", b: str | None = "not_support") -> list[dict[str, Any]]:
    return [nugget(f"Fact {i}.", a=a, b=b) for i in range(count)]


def text(words: str, system: str = "left") -> dict[str, Any]:
    return {"system": system, "text": words, "sources": []}


# --- certainty ---------------------------------------------------------------------------------
def test_nuggets_that_all_speak_for_one_side_leave_no_doubt(read: Any) -> None:
    right = battle("b1", human="a", nuggets=nuggets(5))
    wrong = battle("b2", human="b", nuggets=nuggets(5))
    found = numbers.certainty.compute(read(right, wrong, battle("b3", human="tie", nuggets=nuggets(5))))
    assert [(each.a, each.tie, each.b) for each in found.battles] == [(1.0, 0.0, 0.0)] * 3
    assert (found.sure.count, found.sure.of) == (3, 3)
    top = found.bands[-1]
    assert (top.battles, top.agree.count, top.agree.of) == (3, 1, 2)
    assert [band.battles for band in found.bands] == [0, 0, 0, 3]


def test_nuggets_that_disagree_leave_doubt(read: Any) -> None:
    split = [*nuggets(3), nugget("Against.", a="not_support", b="support")]
    (found,) = numbers.certainty.compute(read(battle("b1", nuggets=split))).battles
    assert 0 < found.b < found.a < 1
    assert found.a + found.tie + found.b == pytest.approx(1)
    assert found.certainty == found.a


def test_one_nugget_or_a_missing_label_gives_no_probability(read: Any) -> None:
    found = numbers.certainty.compute(
        read(
            battle("b1", nuggets=nuggets(1)),
            battle("b2", nuggets=[*nuggets(2), nugget("?", b=None)]),
            battle("b3", scores=None),
        )
    )
    assert (found.received, found.scored, found.few_nuggets, found.unlabelled) == (3, 2, 1, 1)
    assert found.battles == ()
    assert found.sure.value is None


# --- thresholds --------------------------------------------------------------------------------
def test_thresholds_are_calibrated_on_human_ties_and_on_kappa(read: Any) -> None:
    rows = [
        battle("1", human="a", scores=(0.75, 0.25)),
        battle("2", human="b", scores=(0.25, 0.75)),
        *(battle(f"t{i}", human="tie", scores=(0.5, 0.5 + i / 8)) for i in (-1, 0, 1)),
    ]
    (found,) = numbers.thresholds.compute(read(*rows))
    assert found.equal_split.threshold == 0.0
    assert found.equal_split.tie_row == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    assert (found.by_kappa.threshold, found.by_kappa.kappa) == (0.125, 1.0)
    assert (found.by_kappa.ties, found.by_kappa.tie_row) == (0.6, (0.0, 1.0, 0.0))


def test_without_human_ties_no_threshold_can_split_them(read: Any) -> None:
    (found,) = numbers.thresholds.compute(read(battle("1"), battle("2", human="b", scores=(0.1, 0.9))))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (None, None)
    assert found.equal_split.missing == "people call no battle a tie"
    assert (found.by_kappa.kappa, found.by_kappa.tie_row) == (1.0, None)


def test_when_everybody_ties_kappa_cannot_choose(read: Any) -> None:
    (found,) = numbers.thresholds.compute(read(battle("1", human="tie", scores=(0.5, 0.5))))
    assert found.by_kappa.threshold is None
    assert "no answer" in (found.by_kappa.missing or "")


# --- answers -----------------------------------------------------------------------------------
def test_citations_are_counted_per_answer_and_per_source(read: Any) -> None:
    rows = [
        battle("1", a="left", b="right") | {"a": text("Tides rise [1]. They fall [1, 2].")},
        battle("2", a="left", b="right") | {"a": text("No source at all.")},
    ]
    left, right = numbers.answers.compute(read(*rows)).systems
    assert (left.words.value, left.median_words, left.words.answers) == (5.5, 5.5, 2)
    assert (left.citations.value, left.cited.value) == (1.5, 1.0)
    assert (left.repeats.value, left.repeats.answers) == (1.5, 1)
    assert (right.citations.value, right.repeats.value, right.repeats.answers) == (0.0, None, 0)


def test_where_and_in_which_order_sources_are_cited(read: Any) -> None:
    rows = [
        battle("1", a="left", b="right") | {"a": text("ab [1] [2]")},  # at 3 and 7 of 10 characters
        battle("2", a="left", b="right") | {"a": text("[2] ab [1]")},  # at 0 and 7 of 10
        battle("3", a="left", b="right") | {"a": text("ab [4]")},  # at 3 of 6, and no order
    ]
    left, right = numbers.answers.compute(read(*rows)).systems
    assert (left.position.value, left.position.answers) == (pytest.approx((0.5 + 0.35 + 0.5) / 3), 3)
    assert (left.in_order.value, left.in_order.answers) == (0.5, 2)
    assert (right.position.value, right.in_order.value) == (None, None)


def test_a_citation_of_a_page_that_does_not_exist_does_not_count(read: Any) -> None:
    pages = [{"state": "ok"}, {"state": "ok"}]
    rows = [battle(str(number)) | {"a": text("ab [1, 2]") | {"sources": pages}} for number in range(2)]
    rows.append(battle("2") | {"a": text("ab [1] [3]") | {"sources": pages}})
    left, right = numbers.answers.compute(read(*rows)).systems
    assert (left.citations.value, left.invalid.value) == (pytest.approx(5 / 3), pytest.approx(1 / 3))
    assert right.invalid.value is None  # no pages: nothing bounds the numbers
    beyond, _ = numbers.answers.compute(read(rows[2])).systems
    assert (beyond.citations.value, beyond.invalid.value) == (2, None)  # the numbers name a longer list


def test_bleu_is_of_the_answer_against_the_passages(read: Any) -> None:
    row = battle("1") | {"a": text("Tides follow the moon."), "b": text("…", "right")}
    row["evidence"] = [{"chunk_id": "c", "text": "Tides follow the moon."}]
    left, right = numbers.answers.compute(read(row)).systems
    assert (left.bleu.value, left.bleu.answers) == (pytest.approx(100), 1)
    assert (right.bleu.value, right.bleu.answers) == (None, 0)
    without, _ = numbers.answers.compute(read(battle("1"))).systems
    assert (without.bleu.value, without.bleu.answers) == (None, 0)


def test_a_copied_sentence_is_as_close_as_can_be(read: Any) -> None:
    row = battle("1") | {"a": text("Tides follow the moon. Bananas!"), "b": text("Often.", "right")}
    row["evidence"] = [{"chunk_id": "c", "text": "Once upon a time. Tides follow the moon."}]
    left, right = numbers.answers.compute(read(row)).systems
    assert left.closeness.value == 0.5
    assert right.closeness.value == 0.0
    without, _ = numbers.answers.compute(read(battle("1"))).systems
    assert (without.closeness.value, without.closeness.answers) == (None, 0)


def test_reading_ease_is_for_english_and_variety_for_a_hundred_words(read: Any) -> None:
    german = battle("1", language="de") | {"a": text("eins zwei " * 50)}
    english = battle("2", language="en-GB") | {"a": text("The cat sat.")}
    left, right = numbers.answers.compute(read(german, english, battle("3", language=""))).systems
    assert (left.ease.answers, right.ease.answers) == (1, 1)
    assert left.ease.value == pytest.approx(206.835 - 1.015 * 3 - 84.6)  # three words of one syllable
    assert (left.variety.value, left.variety.answers) == (0.02, 1)
    assert right.variety.value is None


def test_an_answer_without_words_has_no_length(read: Any) -> None:
    silent = battle("1") | {"a": text(""), "b": text("…", "right")}
    found = numbers.answers.compute(read(silent))
    assert [each.words.value for each in found.systems] == [None, None]
    assert [each.ease.value for each in found.systems] == [None, None]
    assert (found.overlap, found.compared) == (None, 0)


# --- nuggets and their passages ----------------------------------------------------------------
def test_a_nugget_is_compared_with_the_passages_it_names(read: Any) -> None:
    def read_from(document: str | None, **more: Any) -> dict[str, Any]:
        places = [] if document is None else [{"document": document, "url": ""}]
        return nugget("Tides follow the moon") | {"provenance": places} | more

    evidence = [{"chunk_id": "c1", "text": "Tides follow. Tides often follow a moon."}]
    found = grounding(
        read(
            battle(
                "1",
                nuggets=[read_from("c1"), read_from("answer:a"), read_from("c9"), read_from(None)],
                evidence=evidence,
            )
        ).rows
    )
    assert (found.nuggets, found.from_passages, found.from_answers, found.unnamed) == (4, 1, 1, 2)
    assert found.recall is not None
    assert (found.recall.nuggets, found.recall.mean, found.near) == (1, 0.75, 0)
    assert found.entailment is None
    measured = read(battle("1", nuggets=[read_from("c1", entailment=0.25), read_from("c1")])).rows
    entailment = grounding(measured).entailment
    assert entailment is not None
    assert (entailment.nuggets, entailment.mean) == (1, 0.25)


# --- time and money ----------------------------------------------------------------------------
def step(name: str, seconds: float | None, ended: bool = True) -> dict[str, Any]:
    at = "2026-05-04T12:00:01Z" if ended else None
    return {"name": name, "state": "done" if ended else "failed", "recorded_at": at, "seconds": seconds}


def test_stages_are_timed_where_their_steps_are_recorded(read: Any) -> None:
    rows = [battle(f"b{i}", steps=[step("scraper", float(i)), step("judge", None)]) for i in (1, 2, 3)]
    rows.append(battle("lost", steps=[step("scraper", None, ended=False)]))
    found = numbers.running.compute(read(*rows, battle("old")))
    scraper, judge = found.stages
    assert (scraper.stage, scraper.ended, scraper.timed) == ("scraper", 3, 3)
    assert (scraper.median, scraper.late) == (2.0, pytest.approx(2.9))
    assert (judge.ended, judge.timed, judge.median, judge.late) == (3, 0, None, None)
    assert numbers.running.compute(read(battle("old"))).stages == ()


def test_money_is_summed_per_stage_model_and_currency(read: Any) -> None:
    def spent(amount: str | None, stage: str = "judge") -> dict[str, Any]:
        cost = None if amount is None else {"amount": amount, "currency": "USD"}
        tokens = {"calls": 2, "input_tokens": 10, "output_tokens": 1}
        return {"stage": stage, "model": "m", "cost": cost} | tokens

    rows = [battle("b1", spend=[spent("0.25"), spent("1", "assigner")]), battle("b2", spend=[spent("0.5")])]
    found = numbers.running.compute(read(*rows, battle("b3", spend=[spent(None)]))).models
    assert [(each.stage, each.currency, each.amount, each.battles, each.calls) for each in found] == [
        ("assigner", "USD", 1.0, 1, 2),
        ("judge", None, None, 1, 2),
        ("judge", "USD", 0.75, 2, 4),
    ]
