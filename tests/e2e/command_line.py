"""The command as a user runs it, and what is written."""

import csv
import json
from pathlib import Path
from typing import Any, NoReturn

from tests.e2e.processes import clean_environment, run_command, run_here


async def nuggetstream(*arguments: str | Path, in_process: bool = True) -> tuple[int, str]:
    """Exit code and output of the command, in this process or in one of its own."""
    if in_process:
        return run_here(*map(str, arguments))
    return await run_command(clean_environment(), *map(str, arguments))


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def strict(path: Path) -> Any:
    """JSON as the standard has it: no infinity and no NaN."""

    def refuse(name: str) -> NoReturn:
        raise AssertionError(f"{path} holds {name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
