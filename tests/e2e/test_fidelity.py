"""`nuggetstream fidelity`: every published number, as a user sees it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nuggetstream.fidelity.collector import Finished
from nuggetstream.fidelity.row import Basis, near
from services.cli.commands.develop import fidelity as command_module
from services.cli.main import main

# What the reference of each row is: printed in the paper, recorded in its repository, computed by a second
# implementation of ours, or worked by hand. F16, F20 and F22 have rows of two kinds.
BASES = {
    "P": ("F1", "F2", "F3", "F7", "F15", "F16", "F18", "F20", "F21b", "F22"),
    "R": ("F4", "F5", "F5b", "F8", "F9", "F10", "F11", "F11b", "F12", "F13", "F14", "F17", "F19"),
    "S": ("F6", "F6b", "F7b", "F16", "F18b", "F20", "F21", "F22"),
    "H": ("F23",),
}
IDS = [
    "F1", "F2", "F3", "F4", "F5", "F5b", "F6", "F6b", "F7", "F7b", "F8", "F9", "F10", "F11", "F11b", "F12",
    "F13", "F14", "F15", "F16", "F17", "F18", "F18b", "F19", "F20", "F21", "F21b", "F22", "F23",
]  # fmt: skip


def fidelity(*arguments: str, data: str | None = None) -> Result:
    return CliRunner(env={"NUGGETSTREAM_DATA": data}).invoke(main, ["fidelity", *arguments])


@pytest.mark.timeout(240)
def test_every_row_is_there_and_passes(recorded_data: Path, tmp_path: Path) -> None:
    written = tmp_path / "rows.json"
    result = fidelity("--json", str(written), data=str(recorded_data))
    rows = json.loads(written.read_text(encoding="utf-8"))["rows"]
    assert list(dict.fromkeys(row["id"] for row in rows)) == IDS
    assert all(row["reference"] and row["ours"] and row["tolerance"] for row in rows)
    assert {(row["basis"], row["id"]) for row in rows} == {
        (b, id_) for b, ids in BASES.items() for id_ in ids
    }
    assert {row["what"] for row in rows if (row["id"], row["basis"]) == ("F20", "S")} == {
        f"overall rating alone, Pearson with people, {judge}" for judge in ("GPT-4", "LLaMA")
    }
    assert [row for row in rows if not row["passed"]] == []
    assert result.exit_code == 0, result.output
    assert "S: second implementation of ours, nothing published is reproduced" in result.output


@pytest.mark.parametrize("arguments", [(), ("--data", "/nowhere")])
def test_without_data_it_exits_2_and_says_so(arguments: tuple[str, ...]) -> None:
    result = fidelity(*arguments)
    assert result.exit_code == 2
    assert "recorded data" in result.output


def test_a_missing_file_is_named_and_exits_2(tmp_path: Path) -> None:
    result = fidelity(data=str(tmp_path))
    assert result.exit_code == 2
    assert "rubric/dl19-graded.jsonl.gz" in result.output


def test_a_number_outside_its_tolerance_exits_1_and_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [near("F1", "kappa", 0.3, kappa, basis=Basis.PRINTED, tolerance=0.005) for kappa in (0.3, 0.26)]
    monkeypatch.setattr(command_module, "missing_files", lambda data: [])
    monkeypatch.setattr(command_module, "collect", lambda data: Finished(tuple(rows), 1.0))
    result = fidelity("--plain", data=str(tmp_path))
    assert result.exit_code == 1
    table = [line.split("\t") for line in result.output.splitlines() if not line.startswith("#")]
    assert [row[:3] for row in table] == [["id", "basis", "result"], ["F1", "P", "pass"], ["F1", "P", "FAIL"]]
    assert "# 1 of 2 failed, 1 s" in result.output
