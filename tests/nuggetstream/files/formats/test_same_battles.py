"""Rows with the battle or the id of an earlier row are said, and none is lost."""

import json
from pathlib import Path
from typing import Any

from nuggetstream.files.dataset import BattleLine
from nuggetstream.files.formats.format import Remark
from nuggetstream.files.formats.registry import read_lines
from nuggetstream.files.formats.same_battles import with_repeated


def told(tmp_path: Path, *rows: dict[str, Any]) -> tuple[int, list[str]]:
    file = tmp_path / "battles.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = list(with_repeated(read_lines(file, {})))
    battles = sum(isinstance(line, BattleLine) for line in lines)
    return battles, [line.text for line in lines if isinstance(line, Remark)]


def row(query: str = "Why?", **more: Any) -> dict[str, Any]:
    return {"query": query, "a": {"system": "p", "text": "So."}, "b": {"system": "q", "text": "No."}} | more


def test_a_file_without_repetition_has_no_remark(tmp_path: Path) -> None:
    assert told(tmp_path, row(), row("Why not?"), row("Why?", arena="other")) == (3, [])


def test_votes_on_one_battle_are_counted(tmp_path: Path) -> None:
    battles, [remark] = told(tmp_path, row(vote="a"), row(vote="b"), row(vote="b"))
    assert battles == 3
    assert remark.startswith("2 rows with the battle of an earlier row")


def test_two_contents_under_one_id_are_named(tmp_path: Path) -> None:
    battles, [remark] = told(tmp_path, row(id="x"), row(id="y"), row("Why not?", id="x"), row("Who?", id="x"))
    assert battles == 4
    assert remark.startswith("2 rows with the id of an earlier row and other content, first 'x' on line 3")
    assert "after line 1" in remark
