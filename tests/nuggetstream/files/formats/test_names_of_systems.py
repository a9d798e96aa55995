"""Two spellings of one name are one system in every format that pairs, cites or votes by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.api.assignments import results_of
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.format import RowLine, Source
from nuggetstream.files.formats.registry import read_battles, read_lines
from nuggetstream.files.formats.rows import Container

COMPOSED, DECOMPOSED = "caf\u00e9 run", "cafe\u0301  run"


def assigned(
    run_id: str, label: str = "support", *, query: str = "Why?", text: str = "So."
) -> dict[str, Any]:
    """A row of nuggetizer's assignments."""
    nuggets = [{"text": "It is so.", "importance": "vital", "assignment": label}]
    return {"run_id": run_id, "qid": "q1", "query": query, "answer_text": text, "nuggets": nuggets}


def results(folder: Path, *rows: dict[str, Any]) -> list[dict[str, Any] | BadLine]:
    """What `import --to results` makes of the rows."""
    path = folder / "assignments.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return list(results_of(Source(path, (path,), Container.JSONL)))


@pytest.mark.parametrize(("written", "name"), [("my  run", "my run"), (DECOMPOSED, COMPOSED)])
def test_assignments_of_a_run_in_another_spelling_become_results(
    tmp_path: Path, written: str, name: str
) -> None:
    [result] = results(tmp_path, assigned(written), assigned("other", "not_support"))
    assert isinstance(result, dict)
    side = next(side for side in "ab" if result[side]["system"] == name)
    assert result["nuggets"][0][side]["support"] == "support"


def test_a_second_answer_of_one_system_in_another_spelling_is_named(tmp_path: Path) -> None:
    second = assigned(DECOMPOSED, "not_support", text="No.")
    problem, result = results(tmp_path, assigned(COMPOSED), second, assigned("other", "not_support"))
    assert problem == BadLine(2, (f"system {COMPOSED!r} answers topic 'q1' on line 1 already",))
    assert isinstance(result, dict)
    side = next(side for side in "ab" if result[side]["system"] == COMPOSED)
    assert (result[side]["text"], result["nuggets"][0][side]["support"]) == ("So.", "support")


def test_labels_are_those_of_the_row_whose_answer_is_kept(tmp_path: Path) -> None:
    rows = (assigned("base"), assigned("deep", query="How?"), assigned("deep", "not_support"))
    problem, result = results(tmp_path, *rows)
    assert isinstance(problem, BadLine)
    assert problem.line == 2
    assert isinstance(result, dict)
    labels = {result[side]["system"]: result["nuggets"][0][side]["support"] for side in "ab"}
    assert labels == {"base": "support", "deep": "not_support"}


def test_a_run_whose_name_cannot_be_shown_is_named_once(tmp_path: Path) -> None:
    rows = (assigned("base"), assigned("de\u200bep"), assigned("other"))
    problem, result = results(tmp_path, *rows)
    assert problem == BadLine(2, ("run_id: contains the invisible character U+200B",))
    assert isinstance(result, dict)


def test_documents_of_ragelo_belong_to_the_agent_in_any_spelling(tmp_path: Path) -> None:
    (tmp_path / "queries.csv").write_text("qid,query\nq1,Why?\n")
    (tmp_path / "documents.csv").write_text(f"qid,did,document,agent\nq1,d1,Because.,{COMPOSED}\n")
    answers = f"qid,agent,answer\nq1,{DECOMPOSED},So.\nq1,{COMPOSED},No.\nq1,other,Yes.\n"
    (tmp_path / "answers.csv").write_text(answers)
    problem, line = read_battles(tmp_path)
    assert problem == BadLine(3, (f"system {COMPOSED!r} answers topic 'q1' on line 2 already",))
    assert isinstance(line, BattleLine)
    battle = line.submission.to_core()
    [answer] = [answer for answer in (battle.a, battle.b) if answer.system == COMPOSED]
    assert [source.text for source in answer.sources] == ["Because."]


def test_a_winner_is_found_in_any_spelling(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps({"system_a": "x", "system_b": COMPOSED, "winner": DECOMPOSED}) + "\n")
    [row] = read_lines(path, {}, battles=False)
    assert isinstance(row, RowLine)
    assert row.fields["winner"] == "b"
    battle = {"query": "Why?", "model_a": "x", "response_a": "So.", "model_b": COMPOSED, "response_b": "No."}
    path.write_text(json.dumps(battle | {"winner": DECOMPOSED}) + "\n")
    [line] = read_battles(path)
    assert isinstance(line, BattleLine)
    assert line.submission.vote == "b"
