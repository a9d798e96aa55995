"""The shape of the code: short functions, short files, and a core that depends on nothing."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("nuggetstream", "services") for path in (ROOT / room).rglob("*.py"))
PURE = ("domain", "nuggets")
CORE = [
    path for path in FILES if path.relative_to(ROOT).parts[:2] in [("nuggetstream", room) for room in PURE]
]
# A migration is one list of changes in the order they are made, kept as it was written.
MIGRATIONS = ROOT / "services" / "store" / "migrations" / "versions"
FUNCTION_LINES = 60
FILE_LINES = 300
CORE_MAY_IMPORT = {"numpy", "scipy"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Every function and the lines it takes, decorators and docstring included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node.name, (node.end_lineno or node.lineno) - first + 1


def imports(source: str) -> Iterator[str]:
    """Every module a source imports, wherever in it; relative ones as they are written."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def foreign_to_core(module: str) -> bool:
    root = module.partition(".")[0]
    ours = module == "nuggetstream" or module.startswith("nuggetstream.")
    return not (ours or root in sys.stdlib_module_names or root in CORE_MAY_IMPORT)


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 50
    assert len(CORE) > 10


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_file_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) < FILE_LINES


@pytest.mark.parametrize("path", [path for path in FILES if path.parent != MIGRATIONS], ids=name_of)
def test_a_function_is_short(path: Path) -> None:
    found = functions(path.read_text(encoding="utf-8"))
    assert [(name, lines) for name, lines in found if lines >= FUNCTION_LINES] == []


@pytest.mark.parametrize("path", CORE, ids=name_of)
def test_the_core_imports_the_standard_library_numpy_scipy_and_itself(path: Path) -> None:
    assert [name for name in imports(path.read_text(encoding="utf-8")) if foreign_to_core(name)] == []


def test_a_long_function_and_a_foreign_import_would_be_noticed() -> None:
    long = "@cache\ndef f():\n" + "    x = 1\n" * (FUNCTION_LINES - 2)
    assert list(functions(long)) == [("f", FUNCTION_LINES)]
    source = "import services.store\nfrom services import wire\ndef f():\n    from pydantic import Field"
    assert [name for name in imports(source) if foreign_to_core(name)] == [
        "services.store", "services", "pydantic",
    ]  # fmt: skip
    assert not any(
        map(foreign_to_core, ["json", "numpy.linalg", "nuggetstream.domain.battle", "nuggetstream"])
    )


def test_no_child_is_made_by_a_plain_fork() -> None:
    """gRPC restarts its threads in a forked child; without preexec_fn Python uses vfork instead."""
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        words = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
        words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not words & {"preexec_fn", "fork", "forkpty"}, path
