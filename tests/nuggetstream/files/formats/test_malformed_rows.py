"""A row with anything in any field becomes a row or is rejected; it never ends the reading of a file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.api.assignments import results_of
from nuggetstream.files.dataset import BadLine, BattleLine, read_documents
from nuggetstream.files.formats.format import Line, RowLine
from nuggetstream.files.formats.registry import read_lines, recognised
from nuggetstream.files.opening import UnusableFile
from tests.evaluated import battle

SAMPLES = Path(__file__).parent / "samples"
JUNK: list[Any] = [None, True, 5, 2.5, "", "x", [], [5], [[]], [None], {}, {"x": 5}, {"x": []}]
LINES = sorted(path.name for path in SAMPLES.glob("*.jsonl"))


def changed(value: Any) -> Iterator[Any]:
    """A JSON value with junk in place of every part of it, and without every part of it."""
    yield from JUNK
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        for other in changed(part):
            copy = value.copy()
            copy[key] = other
            yield copy
        copy = value.copy()
        del copy[key]
        yield copy


def read(path: Path, name: str) -> list[Line]:
    return list(read_lines(path, {}, name, battles=False))


def rows_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def written(path: Path, rows: list[Any], *, is_array: bool) -> Path:
    path.write_text(
        json.dumps(rows) if is_array else "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    return path


@pytest.mark.parametrize("is_array", [False, True], ids=["lines", "array"])
@pytest.mark.parametrize("name", LINES)
def test_anything_in_any_field_of_a_sample_is_read_or_rejected(
    name: str, is_array: bool, tmp_path: Path
) -> None:
    known, rows = recognised(SAMPLES / name)[0], rows_of(SAMPLES / name)
    if is_array and not isinstance(rows[0], dict):
        pytest.skip("an array of arrays is read as lines")
    every = [*rows, *(other for row in rows[:2] for other in changed(row))]
    lines = read(written(tmp_path / "rows", every, is_array=is_array), known.name)
    assert any(isinstance(line, BadLine) for line in lines)
    assert any(isinstance(line, BattleLine | RowLine) for line in lines)


@pytest.mark.parametrize("is_array", [False, True], ids=["lines", "array"])
def test_anything_in_any_field_of_a_battle_is_read_or_rejected(is_array: bool, tmp_path: Path) -> None:
    passages = [{"snippet": "So.", "start": 0, "end": 3}]
    answer = {"system": "x", "text": "So.", "sources": [{"url": "https://x.example/", "passages": passages}]}
    ours = {
        "id": "1",
        "query": "Why?",
        "a": answer,
        "b": answer | {"system": "y"},
        "vote": "a",
        "tags": ["t"],
    }
    turns = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
    theirs = {"model_a": "x", "model_b": "y", "messages_a": turns, "messages_b": turns, "winner": "y"}
    for name, row in {"nuggetstream": ours, "results": battle("1"), "nuggetstream ": theirs}.items():
        rows = [row, *changed(row)]
        lines = read(written(tmp_path / name.strip(), rows, is_array=is_array), name.strip())
        assert len(lines) == len(rows)
        assert isinstance(lines[0], BattleLine)


def test_anything_in_any_field_of_assignments_is_a_result_or_rejected(tmp_path: Path) -> None:
    rows = rows_of(SAMPLES / "nuggetizer_assignments.jsonl")
    path = written(tmp_path / "rows", [*rows, *changed(rows[0])], is_array=False)
    results = list(results_of(recognised(path)[1]))
    assert {type(result) for result in results} == {dict, BadLine}


@pytest.mark.parametrize("name", ["qrels", "run", "ragelo-verdicts", "documents", "queries", "votes"])
def test_rows_of_another_format_are_rejected(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / "rows", [{"x": 1}, {"x": []}, [1, 2, 3, 4], [1, 2, 3, 4, 5, 6]], is_array=False)
    assert [type(line) for line in read(path, name)] == [BadLine] * 4


def test_a_folder_may_hold_tables_with_other_columns(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_text("qid,agent_a,agent_b,answer\nq,x,y,A\n")
    (tmp_path / "2.csv").write_text("qid,agent_a,agent_c,reply\nq,x,y,A\n")
    good, bad = read(tmp_path, "ragelo-verdicts")
    assert isinstance(good, RowLine)
    assert bad == BadLine(2, ("answer: is None; expected A, B or C",))
    (tmp_path / "ragelo").mkdir()
    (tmp_path / "ragelo" / "queries.csv").write_text("qid,query\nq,Why?\n")
    (tmp_path / "ragelo" / "answers.csv").write_text("qid,system,answer\nq,x,So.\n")
    (rejected,) = read_lines(tmp_path / "ragelo")
    assert rejected == BadLine(2, ("agent: is missing",))


def test_answers_without_a_query_are_rejected_by_that_name(tmp_path: Path) -> None:
    answer = {"metadata": {"run_id": "r", "narrative_id": "1"}, "answer": [{"text": "So.", "citations": []}]}
    path = written(tmp_path / "file.jsonl", [answer], is_array=False)
    (rejected,) = read_lines(path)
    assert rejected == BadLine(1, ("topic or metadata.narrative: is missing",))


def test_a_run_with_a_tag_of_several_words_is_a_run(tmp_path: Path) -> None:
    path = tmp_path / "file.run"
    path.write_text("q1 Q0 d1 1 9.5 my run, a test\n")
    assert recognised(path)[0].name == "run"
    (rejected,) = read_lines(path, battles=False)
    assert rejected == BadLine(1, ("has 9 columns; expected query Q0 document rank score tag",))


def test_what_is_missing_is_no_name(tmp_path: Path) -> None:
    vote = {"model_a": "x", "model_b": "y", "winner": "a"}
    judgment = {"qid": "1", "assistant_a_run_id": "x", "assistant_b_run_id": "y", "judge_verdict": "A"}
    cases: dict[str, tuple[dict[str, Any], str]] = {
        "votes": (vote, "model_b"),
        "ragdoll-judgments": (judgment, "assistant_b_run_id"),
        "documents": ({"docid": "1", "text": "So."}, "docid"),
        "queries": ({"qid": "1", "query": "Why?"}, "qid"),
        "rubric-bank": ({"query_id": "1", "items": []}, "query_id"),
    }
    for name, (row, field) in cases.items():
        path = written(
            tmp_path / name, [row | {field: nothing} for nothing in (None, "", "  ")], is_array=False
        )
        problem = (f"{field}: is missing",)
        assert read(path, name) == [BadLine(number, problem) for number in (1, 2, 3)], name
    assert read(written(tmp_path / "rubric", [[None, []]], is_array=False), "rubric") == [
        BadLine(1, ("0: is missing",))
    ]


def test_documents_without_an_id_or_a_text_are_named(tmp_path: Path) -> None:
    for row, field in (({"docid": None, "text": "So."}, "docid"), ({"docid": 1, "text": None}, "text")):
        path = written(tmp_path / "documents.jsonl", [row], is_array=False)
        with pytest.raises(UnusableFile, match=f":1: {field}: is missing"):
            read_documents(path)


def test_an_empty_answer_is_read_from_every_container_but_cells(tmp_path: Path) -> None:
    row = {"query": "Why?", "model_a": "x", "response_a": "", "model_b": "y", "response_b": "So."}
    for is_array in (False, True):
        [line] = read(written(tmp_path / "rows", [row], is_array=is_array), "nuggetstream")
        assert isinstance(line, BattleLine)
        assert line.submission.to_core().a.text == ""
    polars = pytest.importorskip("polars")
    polars.DataFrame([row]).write_parquet(tmp_path / "table")
    [line] = read(tmp_path / "table", "nuggetstream")
    assert isinstance(line, BattleLine)
    assert line.submission.to_core().a.text == ""
    (tmp_path / "cells.csv").write_text(f"{','.join(row)}\n{','.join(row.values())}\n")
    assert [type(line) for line in read(tmp_path / "cells.csv", "nuggetstream")] == [BadLine]
