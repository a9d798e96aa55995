"""`nuggetstream eval --limit` reads a file up to the last battle that it evaluates."""

import json
from pathlib import Path

import pytest

from services.cli.commands.files.evaluate import _read
from services.cli.evaluation.kept_lines import Keeper

BATTLE = {"a": {"system": "x", "text": "So."}, "b": {"system": "y", "text": "No."}}


def test_lines_behind_the_limit_are_neither_read_nor_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "battles.jsonl"
    lines = ["{?", *(json.dumps(BATTLE | {"query": f"Why {number}?"}) for number in (2, 3)), "{"]
    file.write_bytes("\n".join(lines).encode() + b"\n" + b" " * 100_000 + b"\xff\n")
    contents = _read(file, None, 2, Keeper(tmp_path / "state"))
    assert [line.line for line in contents.lines] == [2, 3]
    assert [line.line for line in contents.rejected] == [1]
    assert ":4:" not in capsys.readouterr().err
    everything = _read(file, None, None, Keeper(tmp_path / "state"))
    assert [line.line for line in everything.rejected] == [1, 4, 5]
