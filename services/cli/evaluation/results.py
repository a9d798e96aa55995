"""The result files of an evaluation, and the tables a person reads first."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.offline import NOTICE
from nuggetstream.files.dataset import VOTE, BadLine
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.printing import print_tables
from nuggetstream.files.results import REJECTED
from nuggetstream.report.mixed_settings import mixture
from nuggetstream.report.summary import Summary, Summing
from nuggetstream.report.terminal import agreement_table, board_table, coverage_line, systems_table
from services.cli.evaluation.kept_lines import KeptLine
from services.cli.evaluation.ledger import Noted

RESULTS = "results.jsonl"


class ResultsFile:
    """Writes `results.jsonl` battle by battle, and keeps of each battle only what the summary needs.

    The file gets its name with `finish`; until then the results of an earlier run stay.

    Args:
        out: Folder, created when missing.
        noted: Human references and settings, by battle id.
    """

    def __init__(self, out: Path, noted: Mapping[str, Noted]) -> None:
        out.mkdir(parents=True, exist_ok=True)
        self._out, self._noted = out, noted
        self._summing = Summing()
        self._path = out / f"{RESULTS}.part"
        self._file = self._path.open("w", encoding="utf-8")

    def __enter__(self) -> Self:
        """The file, open for writing."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file; one that was not finished is removed."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def add(self, view: Mapping[str, Any]) -> None:
        """Write one battle, as the API shows it."""
        noted = self._noted.get(view["id"], Noted(view["id"]))
        reference = dict(noted.reference)
        if VOTE in reference and view["human_vote"] is not None:
            reference[VOTE] = Vote(view["human_vote"])  # also of votes that came in another way
        row = dict(view) | {"reference": reference, "settings": noted.settings}
        self._summing.add(BattleRow.model_validate(row))
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def keep(self) -> None:
        """Give the file its name."""
        self._file.close()
        self._path.replace(self._out / RESULTS)

    def finish(self, rejected: Sequence[BadLine], boards: Sequence[Mapping[str, Any]]) -> Summary:
        """Write rejected.jsonl if lines were rejected, and then summary.json and summary.txt.

        Args:
            rejected: Lines that are not counted as battles, in any order.
            boards: Leaderboards as the API shows them.
        """
        self.keep()
        _write_rejected(self._out, rejected)
        summary = self._summing.summary(len(rejected))
        content = asdict(summary) | {"leaderboards": list(boards)}
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (self._out / "summary.json").write_text(text, "utf-8")
        with (self._out / "summary.txt").open("w", encoding="utf-8") as file:
            print_summary(Console(file=file, width=120), summary, boards)
        return summary


def write_results(
    out: Path,
    lines: Sequence[KeptLine],
    rejected: Sequence[BadLine],
    views: Iterable[Mapping[str, Any]],
    boards: Sequence[Mapping[str, Any]],
) -> Summary:
    """Write the files of an evaluation; see `ResultsFile`.

    Args:
        out: Folder, created when missing.
        lines: Accepted battles with their human references.
        rejected: Lines that are not counted as battles, in any order.
        views: Battles as the API shows them.
        boards: Leaderboards as the API shows them.
    """
    with ResultsFile(out, {line.id: Noted(line.id, line.reference) for line in lines}) as results:
        for view in views:
            results.add(view)
        return results.finish(rejected, boards)


def print_summary(console: Console, summary: Summary, boards: Sequence[Mapping[str, Any]]) -> None:
    """Print the summary: what was scored, systems, leaderboards, agreement."""
    parts: list[Table | Text] = [Text(NOTICE, style="bold")] if summary.offline else []
    parts.append(Text(coverage_line(summary)))
    if (mixed := mixture(summary.mixed)) is not None:
        parts.append(Text(mixed))
    for judge in summary.judges:
        if judge.asked_twice:
            name = f"the judge {judge.evaluator}" if len(summary.judges) > 1 else "the judge"
            changed = f"changed with the order in {judge.flips} of {judge.asked_twice} battles"
            parts.append(Text(f"the verdict of {name} {changed}"))
    agreements = [agreement_table(summary)] if summary.agreements else []
    for table in (systems_table(summary), *board_tables(boards), *agreements):
        parts += [Text(), table]
    print_tables(Group(*parts), console=console)


def board_tables(boards: Sequence[Mapping[str, Any]]) -> list[Table]:
    """A table per leaderboard; with several arenas, each title begins with the arena."""
    several = len({board["arena"] for board in boards}) > 1
    tables = [board_table(board) for board in boards]
    for board, table in zip(boards, tables, strict=True):
        if several:
            table.title = f"{escape(board['arena'])} · {table.title}"
    return tables


def _write_rejected(out: Path, rejected: Sequence[BadLine]) -> None:
    """Write the rejected lines in the order of the file."""
    write_lines(out / REJECTED, [asdict(line) for line in sorted(rejected, key=attrgetter("line"))])


def write_lines(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write objects, one per line; without any, the file of an earlier run is removed."""
    path.unlink(missing_ok=True)
    if rows:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
