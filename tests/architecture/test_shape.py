"""The shape of the code: short files, short functions, no forked child. For imports see .importlinter."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("nuggetstream", "services") for path in (ROOT / room).rglob("*.py"))
# A migration is one list of changes in the order they are made, kept as it was written.
MIGRATIONS = ROOT / "services" / "store" / "migrations" / "versions"
FUNCTION_LINES = 60
FILE_LINES = 300
FORKS = {"preexec_fn", "fork", "forkpty"}


@cache
def source_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def functions(source: str) -> Iterator[tuple[str, int]]:
    """Every function and the lines it takes, decorators and docstring included."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node.name, (node.end_lineno or node.lineno) - first + 1


def forks(source: str) -> set[str]:
    """Every name in a source by which a child process would be forked."""
    nodes = list(ast.walk(ast.parse(source)))
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return FORKS & (keywords | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


def test_there_is_something_to_look_at() -> None:
    for room in ("nuggetstream", "services"):
        assert sum(path.relative_to(ROOT).parts[0] == room for path in FILES) > 50


def test_every_file_is_short() -> None:
    lengths = {str(path.relative_to(ROOT)): len(source_of(path).splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines >= FILE_LINES} == {}


def test_every_function_is_short() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {name} has {lines} lines"
        for path in FILES
        if path.parent != MIGRATIONS
        for name, lines in functions(source_of(path))
        if lines >= FUNCTION_LINES
    ]
    assert long == []


def test_no_child_is_made_by_a_plain_fork() -> None:
    """gRPC restarts its threads in a forked child; without preexec_fn Python uses vfork instead."""
    assert {
        str(path.relative_to(ROOT)): forks(source_of(path)) for path in FILES if forks(source_of(path))
    } == {}


def test_a_long_function_and_a_fork_would_be_noticed() -> None:
    long = "@cache\ndef f():\n" + "    x = 1\n" * (FUNCTION_LINES - 2)
    assert list(functions(long)) == [("f", FUNCTION_LINES)]
    assert forks("run(['ls'], preexec_fn=os.setsid)\nos.fork()") == {"preexec_fn", "fork"}
