"""What an evaluation leaves behind: no line of an earlier run, every board under its own name."""

import json
from pathlib import Path
from typing import Any

from rich.console import Console

from nuggetstream.files.dataset import BadLine
from services.cli.results import board_tables, write_results


def board(arena: str, lens: str = "human") -> dict[str, Any]:
    counts = {"scored": 0, "received": 0, "tie_policy": "half", "level": 0.95, "notes": [], "standings": []}
    return {"arena": arena, "lens": lens} | counts


def printed(path: Path) -> str:
    return " ".join(path.read_text(encoding="utf-8").split())


def test_lines_rejected_by_an_earlier_run_are_gone(tmp_path: Path) -> None:
    write_results(tmp_path, [], [BadLine(3, ("is no battle",))], [], [])
    assert (tmp_path / "rejected.jsonl").is_file()
    summary = write_results(tmp_path, [], [], [], [])
    assert (summary.received, summary.rejected) == (0, 0)
    assert not (tmp_path / "rejected.jsonl").exists()


def test_rejected_lines_are_in_the_order_of_the_file(tmp_path: Path) -> None:
    unread, untaken = [BadLine(2, ("a",)), BadLine(9, ("b",))], [BadLine(4, ("c",))]
    write_results(tmp_path, [], [*unread, *untaken], [], [])
    rows = (tmp_path / "rejected.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["line"] for row in rows] == [2, 4, 9]


def test_boards_of_several_arenas_carry_their_arena(tmp_path: Path) -> None:
    write_results(tmp_path, [], [], [], [board("search [beta]"), board("chat")])
    text = printed(tmp_path / "summary.txt")
    assert "search [beta] · Human lens: 0 of 0 battles" in text
    assert "chat · Human lens" in text


def test_boards_of_one_arena_do_not_repeat_it() -> None:
    console = Console(width=120)
    with console.capture() as captured:
        for table in board_tables([board("chat"), board("chat", "judge")]):
            console.print(table)
    assert "Human lens" in captured.get()
    assert "Judge lens" in captured.get()
    assert "chat" not in captured.get()
