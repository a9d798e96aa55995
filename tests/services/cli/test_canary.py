"""`nuggetstream canary` prints the result of every judge and exits with 1 unless every battle passed."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.main import main
from tests.databases import copy_of


@pytest.fixture(autouse=True)
def installation(migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", copy_of(migrated_sqlite, tmp_path))


def test_the_offline_judge_passes() -> None:
    result = CliRunner().invoke(main, ["canary"])
    assert result.exit_code == 0, result.output
    (line,) = result.output.splitlines()
    assert line.split(maxsplit=2)[:2] == ["pairwise", "offline-heuristic"]
    assert line.endswith("8 passed, 0 flipped, 0 unequal, 0 failed")


def test_a_budget_that_is_used_up_leaves_battles_without_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUGGETSTREAM_LLM_DAY_TOKENS", "2000")
    result = CliRunner().invoke(main, ["canary"])
    assert result.exit_code == 1
    summary, *problems = result.output.splitlines()
    passed = int(summary.split()[2])
    assert summary.endswith(f"{passed} passed, 0 flipped, 0 unequal, {8 - passed} failed")
    assert 0 < passed < 8
    assert {line.split()[-1] for line in problems} == {"budget_exceeded"}
