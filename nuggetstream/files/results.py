"""A file of evaluated battles: one JSON object per line, as `nuggetstream eval` writes them.

A line is the JSON of `GET /v1/battles/{id}`, with the human preference per dimension in `reference`.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from nuggetstream.files.dataset import OVERALL, VOTE, BadLine
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.formats.rows import container_of, rows_in
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import read_text_lines

_Kind = TypeVar("_Kind", bound=BaseModel)

REJECTED = "rejected.jsonl"  # lines that the evaluation rejected, beside its results


@dataclass(frozen=True, slots=True)
class Results:
    """A whole file of results.

    Attributes:
        name: Name of the file.
        battles: Evaluated battles in the order of the file.
        rejected: Lines that the evaluation rejected; they count as received.
    """

    name: str
    battles: tuple[BattleRow, ...]
    rejected: int = 0

    @property
    def received(self) -> int:
        """Battles that arrived, those rejected included."""
        return len(self.battles) + self.rejected

    @property
    def scored(self) -> int:
        """Battles with nugget scores and a judge's verdict."""
        return sum(battle.is_scored for battle in self.battles)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the human dimensions, the overall preference first."""
        names = dict.fromkeys(name for battle in self.battles for name in battle.preferences)
        return tuple(sorted(names, key=lambda name: name not in (OVERALL, VOTE)))

    def by_arena(self) -> Mapping[str, tuple[BattleRow, ...]]:
        """The battles of each arena, in the order of the file."""
        arenas: dict[str, list[BattleRow]] = {}
        for battle in self.battles:
            arenas.setdefault(battle.arena, []).append(battle)
        return {arena: tuple(battles) for arena, battles in arenas.items()}


def read_results(path: Path) -> Results:
    """Read the evaluated battles of a file; a `rejected.jsonl` beside it counts towards what was received.

    Memory holds the battles and one line of the file.

    Raises:
        UnusableFile: The file, or one of its lines, cannot be used. The message names the file, and for a
            line its number and the field.
    """
    battles: list[BattleRow] = []
    first_line: dict[str, int] = {}
    for number, line in enumerate(read_text_lines(path), start=1):
        if not line.strip():
            continue
        battle = _battle(line, f"{path}:{number}")
        if (first := first_line.setdefault(battle.id, number)) != number:
            raise UnusableFile(f"{path}:{number}: id: {battle.id!r} is on line {first} already")
        battles.append(battle)
    return Results(path.name, tuple(battles), _rejected(path))


def result_views(path: Path) -> Iterator[dict[str, Any]]:
    """The evaluated battles of a file with all their fields, one by one, in memory of one battle.

    Raises:
        UnusableFile: As `read_results`.
    """
    for row in rows_in(path, container_of(path)):
        where = f"{path}:{row.line}"
        if isinstance(row, BadLine):
            raise UnusableFile(f"{where}: {row.problems[0]}")
        checked(BattleRow, row.value, where)
        yield row.value


def _rejected(path: Path) -> int:
    """Lines in the file of rejected lines beside the results; none without such a file."""
    beside = path.with_name(REJECTED)
    return sum(bool(line.strip()) for line in read_text_lines(beside)) if beside.exists() else 0


def _battle(line: str, where: str) -> BattleRow:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise UnusableFile(f"{where}: is not JSON: {error}") from error
    return checked(BattleRow, fields, where)


def checked(kind: type[_Kind], fields: object, where: str) -> _Kind:
    """An evaluated battle as one of the types that read it.

    Raises:
        UnusableFile: It is none; names the place and the field.
    """
    if not isinstance(fields, dict):
        raise UnusableFile(f"{where}: is not a JSON object")
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise UnusableFile(f"{where}: {_problem(error)}") from error


def _problem(error: ValidationError) -> str:
    """The first field at fault, and how many more there are."""
    first, *more = error.errors(include_url=False)
    field = ".".join(map(str, first["loc"]))
    others = f" (and {len(more)} more field{'s' if len(more) > 1 else ''})" if more else ""
    hint = "; is this a results.jsonl of `nuggetstream eval`?" if first["type"] == "missing" else ""
    return f"{field}: {first['msg'][0].lower()}{first['msg'][1:]}{others}{hint}"
