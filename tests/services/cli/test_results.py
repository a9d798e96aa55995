"""What an evaluation leaves behind: no line of an earlier run, every board under its own name."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from nuggetstream.files.dataset import BadLine
from services.cli.evaluation.results import board_tables, print_summary, write_results
from tests.evaluated import summarise


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


def test_a_board_with_long_names_has_whole_numbers_on_a_narrow_terminal() -> None:
    standing = {"system": "a-system-with-a-name-of-more-than-forty-letters", "rating": 1041.0, "rank": 1}
    standing |= {"low": 801.0, "high": 1313.0, "group": "a", "probability_first": 0.571, "unrankable": None}
    standing |= {"battles": 2555, "wins": 1234, "losses": 1000, "ties": 321}
    standing |= {"interval_state": "bounded", "provisional": False}
    other = standing | {"system": "another"}
    out = StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None)
    print_summary(console, summarise([], 0), [board("chat") | {"standings": [standing, other]}])
    for whole in ("801–1313", "57%", "1,234-1,000-321"):
        assert out.getvalue().count(whole) == 2
    assert "…" not in out.getvalue()


def test_boards_of_one_arena_do_not_repeat_it() -> None:
    console = Console(width=120)
    with console.capture() as captured:
        for table in board_tables([board("chat"), board("chat", "judge")]):
            console.print(table)
    assert "Human lens" in captured.get()
    assert "Judge lens" in captured.get()
    assert "chat" not in captured.get()
