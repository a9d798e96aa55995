"""Evaluated battles read back: one JSON object per line, as `nuggetstream eval` writes them.

A line is the JSON of `GET /v1/battles/{id}`, with the human preference per dimension in `reference`.
Fields that no section needs are not looked at; those that are must be what they claim to be.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import OVERALL, VOTE, UnusableFile
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.text import read_text
from nuggetstream.report.results import evaluated_from
from nuggetstream.report.summary import Evaluated, Summary, summarise

REFUSED = "refused.jsonl"  # what the evaluation could not accept, beside its results


@dataclass(frozen=True)
class Results:
    """A whole file of results.

    Attributes:
        name: of the file.
        rows: the battles, in the order of the file.
        battles: the same battles as the summaries take them, index by index.
        refused: lines that the evaluation could not accept; they count as received.
    """

    name: str
    rows: tuple[BattleRow, ...]
    battles: tuple[Evaluated, ...]
    refused: int = 0

    @property
    def received(self) -> int:
        """Battles that arrived, those refused included."""
        return len(self.rows) + self.refused

    @property
    def dimensions(self) -> tuple[str, ...]:
        """The human dimensions there are, the overall preference first."""
        names = dict.fromkeys(name for battle in self.battles for name in battle.reference)
        return tuple(sorted(names, key=lambda name: name not in (OVERALL, VOTE)))

    @cached_property
    def summary(self) -> Summary:
        """The summary that `nuggetstream eval` prints; its bootstrap is worth doing once."""
        return summarise(self.battles, self.refused)


def read_results(path: Path) -> Results:
    """The evaluated battles of a file; a `refused.jsonl` beside it counts towards what was received.

    A battle without references but with a human vote gets that vote as its one dimension, "vote".

    Raises:
        UnusableFile: naming the file, and where it is a line's fault, the line and the field.
    """
    rows, battles = [], []
    seen: dict[str, int] = {}
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        row, battle = _row(line, f"{path}:{number}")
        if (first := seen.setdefault(row.id, number)) != number:
            raise UnusableFile(f"{path}:{number}: id: {row.id!r} is on line {first} already")
        rows.append(row)
        battles.append(battle)
    refused = path.with_name(REFUSED)
    lost = sum(bool(line.strip()) for line in _lines(refused)) if refused.exists() else 0
    return Results(path.name, tuple(rows), tuple(battles), lost)


def _lines(path: Path) -> list[str]:
    return read_text(path).split("\n")  # splitlines also cuts inside JSON strings


def _row(line: str, where: str) -> tuple[BattleRow, Evaluated]:
    try:
        view = json.loads(line)
    except ValueError as error:
        raise UnusableFile(f"{where}: is not JSON: {error}") from error
    if not isinstance(view, dict):
        raise UnusableFile(f"{where}: is not a JSON object")
    try:
        row = BattleRow.model_validate(view)
    except ValidationError as error:
        raise UnusableFile(f"{where}: {_problem(error)}") from error
    return row, evaluated_from(view, _reference(row))


def _reference(row: BattleRow) -> Mapping[str, Vote]:
    if row.reference or row.human_vote is None:
        return row.reference
    return {VOTE: row.human_vote}


def _problem(error: ValidationError) -> str:
    """The first field at fault, and how many more there are."""
    first, *more = error.errors(include_url=False)
    field = ".".join(map(str, first["loc"]))
    others = f" (and {len(more)} more field{'s' if len(more) > 1 else ''})" if more else ""
    hint = "; is this a results.jsonl of `nuggetstream eval`?" if first["type"] == "missing" else ""
    return f"{field}: {first['msg'][0].lower()}{first['msg'][1:]}{others}{hint}"
