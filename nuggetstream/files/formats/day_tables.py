"""Evaluated battles and the costs of a day as Parquet tables, for DuckDB and others.

a battle as results.jsonl and the API have it ──> rows of each table ──> a Parquet file per table
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from nuggetstream.files.formats.exporting import View
from nuggetstream.files.formats.exports import preferences_of
from nuggetstream.files.frames import Shape, lines_to_parquet

Rows: TypeAlias = Iterator[Mapping[str, Any]]
SPEND = "spend"


@dataclass(frozen=True, slots=True)
class DayTable:
    """A table.

    Attributes:
        rows: The rows of a battle.
        shape: Shape of a row.
    """

    rows: Callable[[View], Rows]
    shape: Mapping[str, Shape]


def write_tables(views: Iterable[View], spend: Iterable[Mapping[str, Any]], folder: Path) -> int:
    """Write every table to `NAME.parquet` in a folder, in memory of one battle.

    Args:
        views: The battles.
        spend: The rows of the table `spend`.
        folder: An empty folder.

    Returns:
        Number of battles.

    Raises:
        UnusableFile: polars is not installed.
        OSError: A file cannot be written.
    """
    lines = {name: folder / f"{name}.rows" for name in TABLES}
    count = 0
    with ExitStack() as stack:
        files = {name: stack.enter_context(lines[name].open("w", encoding="utf-8")) for name in TABLES}
        files[SPEND].writelines(map(_line, spend))
        for view in views:
            count += 1
            for name, table in TABLES.items():
                files[name].writelines(map(_line, table.rows(view)))
    for name, table in TABLES.items():
        lines_to_parquet(lines[name], folder / f"{name}.parquet", table.shape)
        lines[name].unlink()
    return count


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _battles(view: View) -> Rows:
    sides = {f"{name}_{side}": view[side][name] for name in ("system", "text") for side in "ab"}
    yield {name: view.get(name) for name in _BATTLE} | sides


def _nuggets(view: View) -> Rows:
    for nugget in view["nuggets"]:
        row = {name: nugget.get(name) for name in ("text", "importance", "grounding")}
        yield {"battle_id": view["id"], "nugget_id": nugget["id"]} | row


def _labels(view: View) -> Rows:
    for nugget in view["nuggets"]:
        for side in "ab":
            if label := nugget.get(side):
                row = {name: label.get(name) for name in ("support", "quote", "cause")}
                is_set = label.get("set_by") is not None
                keys = {"battle_id": view["id"], "nugget_id": nugget["id"], "answer": side}
                yield keys | row | {"set_by_person": is_set}


def _judgments(view: View) -> Rows:
    for judgment in (*view["judgments"], *view.get("guided", ())):
        row = {name: judgment.get(name) for name in ("evaluator", "model", "winner", "flipped")}
        yield {"battle_id": view["id"]} | row


def _outcomes(view: View) -> Rows:
    grounded = view.get("grounded_verdict")
    of_grounded = [("grounded", "nuggets", grounded["preference"])] if grounded else []
    for lens, source, winner in (*preferences_of(view), *of_grounded):
        if winner is not None:
            yield {"battle_id": view["id"], "lens": lens, "source": source, "winner": winner}


def _no_rows(_: View) -> Rows:
    yield from ()


def _texts(*names: str) -> dict[str, Shape]:
    return dict.fromkeys(names, "text")


_BATTLE = ("id", "arena", "received_at", "ended_at", "state", "language", "query", "human_vote", "tags")
TABLES: Mapping[str, DayTable] = {
    "battles": DayTable(
        _battles, _texts(*_BATTLE[:-1], "system_a", "system_b", "text_a", "text_b") | {"tags": ["text"]}
    ),
    "nuggets": DayTable(_nuggets, _texts("battle_id", "nugget_id", "text", "importance", "grounding")),
    "labels": DayTable(
        _labels,
        _texts("battle_id", "nugget_id", "answer", "support", "quote", "cause") | {"set_by_person": "flag"},
    ),
    "judgments": DayTable(
        _judgments, _texts("battle_id", "evaluator", "model", "winner") | {"flipped": "flag"}
    ),
    "outcomes": DayTable(_outcomes, _texts("battle_id", "lens", "source", "winner")),
    SPEND: DayTable(
        _no_rows,
        _texts("arena", "stage", "model", "currency")
        | dict.fromkeys(("calls", "input_tokens", "output_tokens"), "count")
        | {"amount": "number"},
    ),
}
"""Every table by its name."""
