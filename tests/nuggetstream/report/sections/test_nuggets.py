"""The nuggets: labels, diversity, and their passages."""

import json
from typing import Any

import pytest

from nuggetstream.report.numbers.grounding import grounding
from tests.evaluated import battle, nugget
from tests.nuggetstream.report.parts import PARTS, built


def test_diversity_is_one_minus_the_mean_overlap_of_two_nuggets_of_a_battle(read: Any) -> None:
    pairs = (("red moon", "red moon"), ("red moon", "blue sea"), ("red moon", "red sea"))
    rows = [battle(f"b{i}", nuggets=[nugget(x), nugget(y)]) for i, (x, y) in enumerate(pairs)]
    found = PARTS["nuggets"].compute(read(*rows, battle("one", nuggets=[nugget("red moon")])))
    assert found.diversity is not None
    assert (found.diversity.low, found.diversity.median, found.diversity.high) == pytest.approx((0, 2 / 3, 1))
    assert found.cosine is not None
    assert (found.cosine.low, found.cosine.median, found.cosine.high) == pytest.approx((0, 1 / 2, 1))
    assert (found.diversity.cases, found.cosine.cases, found.received) == (3, 3, 4)


def test_a_missing_label_is_counted_as_missing(read: Any) -> None:
    results = read(battle("b1", nuggets=[nugget(b=None), nugget("x", "okay")]))
    found = PARTS["nuggets"].compute(results)
    none = {"partial_support": 0, "not_support": 0, "contradiction": 0}
    assert found.labels["vital"] == {"support": 1, **none, "no label": 1}
    assert found.vital is not None
    assert found.vital.mean == 0.5
    missed = {(row.system, row.which): row for row in PARTS["misses"].compute(results).rows}
    assert missed["right", "all nuggets"].labelled == 1
    assert missed["right", "vital nuggets"].labelled == 0


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
        ).battles
    )
    assert (found.nuggets, found.from_passages, found.from_answers, found.unnamed) == (4, 1, 1, 2)
    assert found.recall is not None
    assert (found.recall.cases, found.recall.mean, found.near) == (1, 0.75, 0)
    assert found.entailment is None
    measured = read(battle("1", nuggets=[read_from("c1", entailment=0.25), read_from("c1")])).battles
    entailment = grounding(measured).entailment
    assert entailment is not None
    assert (entailment.cases, entailment.mean) == (1, 0.25)


def test_the_evaluator_of_entailment_is_read_where_a_line_has_no_probability_of_its_own(read: Any) -> None:
    def grade(item: str, label: str, **more: Any) -> dict[str, Any]:
        scale = {"criterion": "entailment", "scale": "-1-1", "subject": "nugget"}
        return scale | {"item": item, "value": 1, "label": label} | more

    told = [{"value": 1, "probability": 0.75}, {"value": 0, "probability": 0.25}]
    grades = [grade("n1", "entailed", probabilities=told), grade("n2", "neutral"), grade("n3", "entailed")]
    gradings = [{"evaluator": "nugget_entailment", "model": "m", "grades": grades}]
    nuggets = [nugget("x") | {"id": f"n{number}"} for number in (1, 2, 3)]
    nuggets[2]["entailment"] = 0.25
    results = read(battle("b1", nuggets=nuggets, gradings=gradings))
    found = grounding(results.battles)
    assert found.entailment is not None
    assert (found.entailment.cases, found.entailment.mean) == (2, 0.5)
    assert found.judged == {"entailed": 2, "neutral": 1}
    assert "2 of 3 entailed, 1 of 3 neutral" in str(built("nuggets", results)[0].blocks)


def test_the_groundings_of_nuggets_are_numbers_that_a_file_can_hold(read: Any) -> None:
    groundings = ("answer-only", "answer-only", "grounded", None)
    rows = [
        battle(
            "1", nuggets=[nugget(f"{index}") | {"grounding": name} for index, name in enumerate(groundings)]
        )
    ]
    _, numbers = built("nuggets", read(*rows))
    assert json.loads(json.dumps(numbers))["grounding"]["groundings"] == {"answer-only": 2, "grounded": 1}


def test_labels_that_people_set_are_listed_with_what_the_model_said(read: Any) -> None:
    set_by = {"author": "Ada", "reason": "It says so.", "model": "not_support"}
    corrected = nugget("Tides follow the moon.", b="support")
    corrected["b"] |= {"set_by": set_by}
    results = read(battle("b1", nuggets=[corrected, nugget("x", b=None)]), battle("b2"))
    content, numbers = built("nuggets", results)
    found = numbers["corrected"]
    assert (found["labels"], found["by_people"], found["battles"]) == (5, 1, 1)
    notice, table = content.blocks[2:4]
    assert notice.text.startswith("1 of 5 labels was set by people, in 1 battle;")
    [(cell, *others)] = table.rows
    assert (cell.battle_id, cell.text) == ("b1", "Tides follow the moon.")
    assert others == ["b1", "right", "missed", "stated", "Ada", "It says so."]


def test_without_labels_of_people_nothing_is_said_of_them(read: Any) -> None:
    content, numbers = built("nuggets", read(battle("b1")))
    assert numbers["corrected"]["by_people"] == 0
    assert "set by people" not in str(content.blocks)


def test_only_the_first_labels_of_people_are_listed(read: Any) -> None:
    set_by = {"author": "Ada", "model": "not_support"}  # results of earlier versions have no reason
    rows = [nugget(f"{index}") for index in range(60)]
    for row in rows:
        row["a"] |= {"set_by": set_by}
    content, numbers = built("nuggets", read(battle("b1", nuggets=rows)))
    assert (numbers["corrected"]["by_people"], len(numbers["corrected"]["first"])) == (60, 50)
    table = content.blocks[3]
    assert (table.note, table.rows[0][-1]) == ("The first 50 of 60.", "not told")
