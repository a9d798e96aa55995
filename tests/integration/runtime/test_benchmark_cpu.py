"""The benchmark of processor time runs at its small scale and measures costs, floor and stages."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import cpu

ROOT = Path(__file__).parents[3]


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.broker
def test_the_small_scale_measures_costs_floor_and_stages(tmp_path: Path) -> None:
    result = tmp_path / "costs.json"
    command = [sys.executable, "-m", "benchmarks.cpu", "--scale", "small", "--json", str(result)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode in (0, 1), done.stderr  # 1: a goal was missed, on a busy machine
    numbers = json.loads(result.read_text())
    [cost] = numbers["costs"]
    assert cost["battles"] == 12  # so few that the noise of starting can outweigh their own cost
    assert cost["peak_mb"] > 0
    assert numbers["calls"] > 0
    assert numbers["hops"] > 0
    stages = {name for name in cost["parts"] if name.startswith("stage ")}
    every = {"scraper", "indexer", "retriever", "nuggetizer", "assigner", "judge", "recorder"}
    assert {f"stage {name}" for name in every} <= stages
    assert {"nats", "other threads", "outside the event loop"} <= cost["parts"].keys()
    assert sum(cost["parts"].values()) == pytest.approx(cost["own"], abs=0.001)  # no part is missing


@pytest.mark.full
def test_an_evaluation_that_fails_is_reported_with_its_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu, "write_battles", lambda path, _: path.write_text("no battle\n"))
    with pytest.raises(SystemExit, match=r"(?s)eval of 2 battles exited with status [1-9].*battle"):
        cpu.measure(2, "http://127.0.0.1:9/v1", tmp_path)
