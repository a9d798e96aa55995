"""`nuggetstream fidelity`: every published number, as a user sees it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli.main import main

IDS = [f"F{number}" for number in range(1, 24)]


def fidelity(*arguments: str, data: str | None = None) -> Result:
    return CliRunner(env={"NUGGETSTREAM_DATA": data}).invoke(main, ["fidelity", *arguments])


@pytest.mark.timeout(240)
def test_every_row_is_there_and_passes(recorded_data: Path, tmp_path: Path) -> None:
    written = tmp_path / "rows.json"
    result = fidelity("--json", str(written), data=str(recorded_data))
    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    assert list(dict.fromkeys(row["id"] for row in rows)) == IDS
    assert all(row["published"] and row["ours"] and row["tolerance"] for row in rows)
    assert [row for row in rows if not row["passed"]] == []
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("arguments", [(), ("--data", "/nowhere")])
def test_without_data_it_exits_2_and_says_so(arguments: tuple[str, ...]) -> None:
    result = fidelity(*arguments)
    assert result.exit_code == 2
    assert "recorded data" in result.output


def test_a_missing_file_is_named_and_exits_2(tmp_path: Path) -> None:
    result = fidelity(data=str(tmp_path))
    assert result.exit_code == 2
    assert "rubric/dl19-graded.jsonl.gz" in result.output
