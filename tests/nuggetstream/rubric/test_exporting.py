"""Grades of the evaluator `rubric` in the files of the workbench, read back by the commands on such files."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nuggetstream.files.results import read_results
from nuggetstream.files.rubric import read_bank, read_graded
from nuggetstream.rubric.cover import cover_at
from nuggetstream.rubric.exporting import NothingToExport, export
from services.cli.commands.files.rubric import command
from tests import evaluated

BANK = {
    "query_id": "q",
    "version": 1,
    "kind": "questions",
    "model": "m",
    "prompt_version": "rubric-bank-1",
    "created_at": "2026-05-04T12:00:00Z",
    "questions": [{"id": "q/1", "text": "Why?"}, {"id": "q/2", "text": "When?"}],
}


def grade(value: float, item: str, side: str = "a", **more: Any) -> dict[str, Any]:
    return {
        "subject": "answer",
        "sides": [side],
        "criterion": "answered",
        "scale": "0-5",
        "value": value,
        "item": item,
    } | more


def graded(name: str, *grades: dict[str, Any], **bank: Any) -> dict[str, Any]:
    grading = {"evaluator": "rubric", "model": "m", "prompt_version": "rubric-1", "bank": BANK | bank}
    evidence = [{"chunk_id": "c9", "text": "A chunk."}]
    return evaluated.battle(name, gradings=[grading | {"grades": list(grades)}], evidence=evidence)


def results(folder: Path, *battles: dict[str, Any]) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(battle) + "\n" for battle in battles), encoding="utf-8")
    return path


def test_banks_and_graded_answers_are_read_back(tmp_path: Path) -> None:
    of_a = [grade(5, "q/1", reason="Because."), grade(1, "q/2")]
    chunk = grade(2, "q/2", subject="document", sides=[], document="c9")
    coverage = grade(0.5, "q/1", criterion="coverage", scale="0-1")
    path = results(tmp_path, graded("b1", coverage, *of_a, grade(0, "q/1", "b"), grade(4, "q/2", "b"), chunk))
    files = export(read_results(path), tmp_path / "out").files
    assert [file.name for file in files] == ["questions.jsonl.gz", "graded.jsonl.gz"]
    assert [(item.query, item.id, item.text) for item in read_bank(files[0])] == [
        ("q", "q/1", "Why?"),
        ("q", "q/2", "When?"),
    ]
    a, b, of_chunk = read_graded(files[1])
    assert (a.grades, a.replies, a.ranks) == ({"q/1": 5, "q/2": 1}, {"q/1": "Because."}, {"left": 1})
    assert (b.grades, b.ranks) == ({"q/1": 0, "q/2": 4}, {"right": 1})
    assert (of_chunk.passage, of_chunk.text, of_chunk.ranks) == ("c9", "A chunk.", {})
    scores = cover_at([a, b, of_chunk], 1, 4)
    assert {system: score.cover for system, score in scores.items()} == {"left": 0.5, "right": 0.5}
    assert export(read_results(path), tmp_path / "again").files[1].read_bytes() == files[1].read_bytes()


def test_equal_answers_are_one_passage_with_a_set_of_grades_per_version(tmp_path: Path) -> None:
    battles = [
        graded("b1", grade(5, "q/1")),
        graded("b2", grade(4, "q/1")),
        graded("b3", grade(3, "q/1"), version=2),
    ]
    exported = export(read_results(results(tmp_path, *battles)), tmp_path / "out")
    assert exported.unranked == 0
    files = exported.files
    assert len(read_bank(files[0])) == 4  # two versions
    for name, value in (("rubric-1/questions-1", 5), ("rubric-1/questions-2", 3)):
        (passage,) = read_graded(files[1], name)
        assert passage.grades == {"q/1": value}


def test_of_several_answers_of_a_system_to_a_query_the_first_has_the_rank(tmp_path: Path) -> None:
    battles = [graded("b1", grade(5, "q/1"), grade(0, "q/2")), graded("b2", grade(0, "q/1"), grade(5, "q/2"))]
    battles[1]["a"]["text"] = "Another answer."
    path = results(tmp_path, *battles, battles[1] | {"id": "b3"})
    exported = export(read_results(path), tmp_path / "out")
    first, second = read_graded(exported.files[1])
    assert (first.ranks, second.text, second.ranks) == ({"left": 1}, "Another answer.", {})
    assert exported.unranked == 1
    score = cover_at([first, second], 1, 4)["left"]
    assert score.cover == 0.5  # of one answer, not of both together
    ran = CliRunner().invoke(command, ["export", str(path), "--out", str(tmp_path / "again")])
    assert "note: 1 further answer of a system to the same query: exported without a rank" in ran.output


def test_key_facts_have_a_file_of_their_own(tmp_path: Path) -> None:
    path = results(tmp_path, graded("b1", grade(5, "q/1"), kind="nuggets"))
    files = export(read_results(path), tmp_path / "out").files
    assert [file.name for file in files] == ["nuggets.jsonl.gz", "graded.jsonl.gz"]
    assert [item.text for item in read_bank(files[0])] == ["Why?", "When?"]
    assert read_graded(files[1])[0].grades == {"q/1": 5}


def test_results_without_such_grades_are_an_error_that_says_so(tmp_path: Path) -> None:
    path = results(tmp_path, evaluated.battle("b1"))
    with pytest.raises(NothingToExport, match="no battle was graded by 'rubric'"):
        export(read_results(path), tmp_path / "out")
    ran = CliRunner().invoke(command, ["export", str(path), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 2
    assert "no battle was graded" in ran.output
