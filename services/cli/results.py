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
from nuggetstream.files.results import REJECTED, REJECTED_BEFORE
from nuggetstream.report.summary import Summary, summarise
from nuggetstream.report.terminal import agreement_table, board_table, coverage_line, systems_table


def write_results(
    out: Path,
    lines: Sequence[BattleLine],
    rejected: Sequence[BadLine],
    views: Sequence[Mapping[str, Any]],
    boards: Sequence[Mapping[str, Any]],
) -> Summary:
    """Write results.jsonl, summary.json, summary.txt and, if lines were rejected, rejected.jsonl.

    Args:
        out: Folder, created when missing.
        lines: Accepted battles with their human references.
        rejected: Lines that are not counted as battles, in any order.
        views: Battles as the API shows them.
        boards: Leaderboards as the API shows them.
    """
    out.mkdir(parents=True, exist_ok=True)
    references = {line.submission.id or line.submission.to_core().id: line.reference for line in lines}
    rows = [dict(view) | {"reference": references[view["id"]]} for view in views]
    summary = summarise([BattleRow.model_validate(row) for row in rows], len(rejected))
    _write_lines(out / "results.jsonl", rows)
    _write_rejected(out, rejected)
    content = asdict(summary) | {"leaderboards": list(boards)}
    (out / "summary.json").write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
    with (out / "summary.txt").open("w", encoding="utf-8") as text:
        print_summary(Console(file=text, width=120), summary, boards)
    return summary


def print_summary(console: Console, summary: Summary, boards: Sequence[Mapping[str, Any]]) -> None:
    """Print the summary: what was scored, systems, leaderboards, agreement."""
    console.print(coverage_line(summary), highlight=False)
    if summary.asked_twice:
        line = (
            f"the judge's verdict changed with the order in {summary.flips} of {summary.asked_twice} battles"
        )
        console.print(line, highlight=False)
    for table in (systems_table(summary), *board_tables(boards)):
        console.print()
        console.print(table)
    if summary.agreements:
        console.print()
        console.print(agreement_table(summary))


def board_tables(boards: Sequence[Mapping[str, Any]]) -> list[Table]:
    """A table per leaderboard; with several arenas, each title begins with the arena."""
    several = len({board["arena"] for board in boards}) > 1
    tables = [board_table(board) for board in boards]
    for board, table in zip(boards, tables, strict=True):
        if several:
            table.title = f"{escape(board['arena'])} · {table.title}"
    return tables


def _write_rejected(out: Path, rejected: Sequence[BadLine]) -> None:
    """Write the rejected lines in the order of the file; those of an earlier run are removed."""
    for name in (REJECTED, REJECTED_BEFORE):
        (out / name).unlink(missing_ok=True)
    if rejected:
        _write_lines(out / REJECTED, [asdict(line) for line in sorted(rejected, key=attrgetter("line"))])


def _write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
