"""The shape of the code: short files, short functions, no forked child. For imports see .importlinter."""

import ast
from collections.abc import Iterator

from tests.architecture.sources import FILES, ROOT, name_of, source_of, tree_of

# A migration is one list of changes in the order they are made, kept as it was written.
MIGRATIONS = ROOT / "services" / "store" / "migrations" / "versions"
FUNCTION_LINES = 60
FILE_LINES = 300
FORKS = {"preexec_fn", "fork", "forkpty"}


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Every function and the lines it takes, decorators and docstring included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield node.name, (node.end_lineno or node.lineno) - first + 1


def forks(tree: ast.Module) -> set[str]:
    """Every name by which a child process would be forked."""
    nodes = list(ast.walk(tree))
    keywords = {node.arg for node in nodes if isinstance(node, ast.keyword) and node.arg}
    return FORKS & (keywords | {node.attr for node in nodes if isinstance(node, ast.Attribute)})


def test_there_is_something_to_look_at() -> None:
    for room in ("nuggetstream", "services"):
        assert sum(path.relative_to(ROOT).parts[0] == room for path in FILES) > 50


def test_every_file_is_short() -> None:
    lengths = {name_of(path): len(source_of(path).splitlines()) for path in FILES}
    assert {name: lines for name, lines in lengths.items() if lines >= FILE_LINES} == {}


def test_every_function_is_short() -> None:
    long = [
        f"{name_of(path)}: {name} has {lines} lines"
        for path in FILES
        if path.parent != MIGRATIONS
        for name, lines in functions(tree_of(path))
        if lines >= FUNCTION_LINES
    ]
    assert long == []


def test_no_child_is_made_by_a_plain_fork() -> None:
    """gRPC restarts its threads in a forked child; without preexec_fn Python uses vfork instead."""
    found = {name_of(path): forks(tree_of(path)) for path in FILES}
    assert {name: words for name, words in found.items() if words} == {}


def test_a_long_function_and_a_fork_would_be_noticed() -> None:
    long = "@cache\ndef f():\n" + "    x = 1\n" * (FUNCTION_LINES - 2)
    assert list(functions(ast.parse(long))) == [("f", FUNCTION_LINES)]
    assert forks(ast.parse("run(['ls'], preexec_fn=os.setsid)\nos.fork()")) == {"preexec_fn", "fork"}
