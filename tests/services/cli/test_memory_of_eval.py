"""An evaluation needs memory for the battles in flight, not for all battles of its file."""

import json
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats.registry import read_battles
from services.cli.evaluation.kept_lines import Keeper
from services.cli.evaluation.ledger import Noted
from services.cli.evaluation.results import ResultsFile

BATTLES, TEXT = 40, 100_000  # characters of each answer
LITTLE = 1_000_000  # bytes, an eighth of the texts


@contextmanager
def little_memory_kept() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[0] < LITTLE
    finally:
        tracemalloc.stop()


def row(number: int) -> dict[str, Any]:
    a, b = ({"system": side, "text": f"{side}{number} " * (TEXT // 4)} for side in "xy")
    return {"query": f"Why {number}?", "arena": "mine", "a": a, "b": b, "vote": "tie"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "battles.jsonl"
    with path.open("w") as lines:
        lines.writelines(json.dumps(row(number)) + "\n" for number in range(BATTLES))
    return path


def battles(file: Path) -> Iterator[BattleLine]:
    for line in read_battles(file):
        assert isinstance(line, BattleLine)
        yield line


def test_the_texts_of_a_file_are_not_kept_in_memory(file: Path, tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "out" / "state")
    with little_memory_kept():
        lines = [keeper.keep(line) for line in battles(file)]
    submissions = [line.submission() for line in reversed(lines)][::-1]
    for kept, body, line in zip(lines, submissions, battles(file), strict=True):
        battle = line.submission.to_core()
        assert json.loads(body) == line.submission.model_dump(mode="json", exclude_none=True)
        assert (kept.line, kept.id, kept.arena) == (line.line, battle.id, "mine")
        assert kept.content_hash == battle.content_hash()
        assert kept.reference == line.reference


def test_a_file_of_kept_battles_is_nowhere_to_be_seen(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out" / "state"
    keeper = Keeper(folder)
    assert not folder.exists()  # nothing is written for a file without battles
    [keeper.keep(line) for line in battles(file)]
    assert list(folder.iterdir()) == []


def view(number: int) -> dict[str, Any]:
    nothing: dict[str, Any] = {"nugget_verdict": None, "human_vote": "a"}
    nothing |= {name: [] for name in ("nuggets", "judgments", "evidence", "failures")}
    return row(number) | nothing | {"id": f"b{number}"}


def test_results_are_written_battle_by_battle(tmp_path: Path) -> None:
    noted = {f"b{number}": Noted(f"b{number}") for number in range(BATTLES)}
    with ResultsFile(tmp_path, noted) as results:
        with little_memory_kept():
            for number in range(BATTLES):
                results.add(view(number))
        assert not (tmp_path / "results.jsonl").exists()
        summary = results.finish([], [])
    assert (summary.received, summary.scored) == (BATTLES, 0)
    [*written] = map(json.loads, (tmp_path / "results.jsonl").read_text().splitlines())
    assert [each["id"] for each in written] == list(noted)
    assert written[7] == view(7) | {"reference": {}, "settings": {}}


def test_results_that_were_interrupted_leave_those_of_an_earlier_run(tmp_path: Path) -> None:
    (tmp_path / "results.jsonl").write_text("earlier\n")
    with ResultsFile(tmp_path, {"b1": Noted("b1")}) as results:
        results.add(view(1))
    assert [path.name for path in tmp_path.iterdir()] == ["results.jsonl"]
    assert (tmp_path / "results.jsonl").read_text() == "earlier\n"


def test_rejected_lines_are_written_before_the_summary_is_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("nuggetstream.report.summary.Summing.summary", fail)
    with ResultsFile(tmp_path, {"b1": Noted("b1")}) as results:
        results.add(view(1))
        with pytest.raises(MemoryError):
            results.finish([BadLine(2, ("is not a JSON object",))], [])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rejected.jsonl", "results.jsonl"]
