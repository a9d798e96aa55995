"""The code that the rules are about: the modules of the library and of the services, read and parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("nuggetstream", "services") for path in (ROOT / room).rglob("*.py"))


@cache
def source_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(source_of(path))


def name_of(path: Path) -> str:
    """The path from the root of the project, as an error shows it."""
    return str(path.relative_to(ROOT))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
