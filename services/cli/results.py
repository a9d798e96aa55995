"""The result files of an evaluation, and the tables a person reads first."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.report.summary import Summary, summarise
from nuggetstream.report.terminal import agreement_table, board_table, coverage_line, systems_table


def write_results(
    out: Path,
    lines: Sequence[BattleLine],
    refused: Sequence[BadLine],
    views: Sequence[Mapping[str, Any]],
    boards: Sequence[Mapping[str, Any]],
) -> Summary:
    """Write results.jsonl, summary.json, summary.txt and, if there are any, refused.jsonl.

    Args:
        out: folder, created when missing.
        lines: the accepted battles with their human references.
        refused: lines that are not counted as battles, in any order.
        views: the battles as the API shows them.
        boards: the leaderboards as the API shows them.
    """
    out.mkdir(parents=True, exist_ok=True)
    references = {line.submission.id or line.submission.to_core().id: line.reference for line in lines}
    rows = [dict(view) | {"reference": references[view["id"]]} for view in views]
    summary = summarise([BattleRow.model_validate(row) for row in rows], len(refused))
    _write_lines(out / "results.jsonl", rows)
    _write_refused(out / "refused.jsonl", refused)
    whole = asdict(summary) | {"leaderboards": list(boards)}
    (out / "summary.json").write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", "utf-8")
    with (out / "summary.txt").open("w", encoding="utf-8") as text:
        print_summary(Console(file=text, width=120), summary, boards)
    return summary


def print_summary(console: Console, summary: Summary, boards: Sequence[Mapping[str, Any]]) -> None:
    """The summary as text: what was scored, systems, leaderboards, agreement."""
    console.print(coverage_line(summary), highlight=False)
    if summary.asked_twice:
        line = (
            f"the judge changed its mind with the order in {summary.flips} of {summary.asked_twice} battles"
        )
        console.print(line, highlight=False)
    for table in (systems_table(summary), *board_tables(boards)):
        console.print()
        console.print(table)
    if summary.agreements:
        console.print()
        console.print(agreement_table(summary))


def board_tables(boards: Sequence[Mapping[str, Any]]) -> list[Table]:
    """A table per leaderboard; where there are several arenas, each title begins with its own."""
    several = len({board["arena"] for board in boards}) > 1
    tables = [board_table(board) for board in boards]
    for board, table in zip(boards, tables, strict=True):
        if several:
            table.title = f"{escape(board['arena'])} · {table.title}"
    return tables


def _write_refused(path: Path, refused: Sequence[BadLine]) -> None:
    """In the order of the file. An earlier run's is removed: what refers to it counts its lines."""
    if refused:
        _write_lines(path, [asdict(line) for line in sorted(refused, key=attrgetter("line"))])
    else:
        path.unlink(missing_ok=True)


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
