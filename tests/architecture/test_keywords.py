"""Values with many fields are built by keyword, so that no two of them can be mixed up."""

import ast
from collections.abc import Iterator, Mapping

import pytest

from tests.architecture.sources import FILES, module_of, name_of, tree_of

MOST = 5


def last_name(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def fields_of(node: ast.ClassDef) -> int:
    """The number of fields that a dataclass takes in its own body."""
    return sum(
        isinstance(field, ast.AnnAssign)
        and "ClassVar" not in ast.unparse(field.annotation)
        and "init=False" not in (ast.unparse(field.value) if field.value else "")
        for field in node.body
    )


def dataclasses_in(tree: ast.Module, module: str) -> Mapping[str, int]:
    """The number of fields of every dataclass of a module, by qualified name."""
    return {
        f"{module}.{node.name}": fields_of(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "dataclass" in map(last_name, node.decorator_list)
    }


def names_in(tree: ast.Module, module: str) -> Mapping[str, str]:
    """What the names of a module stand for: its own classes, and what it imports."""
    names = {node.name: f"{module}.{node.name}" for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.asname: alias.name for alias in node.names if alias.asname}
    return names


def dotted(node: ast.expr) -> str:
    """The name that an expression is, such as `values.Large`; empty where it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    owner = dotted(node.value) if isinstance(node, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner and isinstance(node, ast.Attribute) else ""


def origin_of(name: str, exports: Mapping[str, str]) -> str:
    """The qualified name of a class that a package may export from one of its modules."""
    while name in exports and exports[name] != name:
        name = exports[name]
    return name


def positional(
    tree: ast.Module, module: str, large: Mapping[str, int], exports: Mapping[str, str]
) -> Iterator[tuple[int, str]]:
    """Line and class of every construction of a large value that passes a field by position."""
    names = names_in(tree, module)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and any(not isinstance(value, ast.Starred) for value in node.args):
            first, _, rest = dotted(node.func).partition(".")
            called = origin_of(".".join(filter(None, (names.get(first, first), rest))), exports)
            if called in large:
                yield node.lineno, called


@pytest.mark.slow
def test_values_with_more_than_five_fields_are_built_by_keyword() -> None:
    counts: dict[str, int] = {}
    exports: dict[str, str] = {}
    for path in FILES:
        module = module_of(path)
        counts |= dataclasses_in(tree_of(path), module)
        names = names_in(tree_of(path), module)
        exports |= {f"{module}.{name}": origin for name, origin in names.items()}
    large = {name: count for name, count in counts.items() if count > MOST}
    assert len(large) > 50
    offenders = [
        f"{name_of(path)}:{line}: {called}"
        for path in FILES
        for line, called in positional(tree_of(path), module_of(path), large, exports)
    ]
    assert offenders == []


def test_a_construction_by_position_would_be_noticed() -> None:
    tree = ast.parse("""
from dataclasses import dataclass, field
from typing import ClassVar
import m.values as values
from m.values import Large as L
@dataclass(frozen=True)
class Own:
    a: int; b: int; c: int; d: int; e: int; f: int
    g: ClassVar[int] = 1
    h: int = field(default=1, init=False)
Own(1, b=2, c=3, d=4, e=5, f=6)
L(1)
values.Large(1)
values.Large(a=1)
Own(*row)
""")
    counts = dataclasses_in(tree, "m.own")
    assert counts == {"m.own.Own": 6}
    large = {**counts, "m.sizes.Large": 9}
    exports = {"m.values": "m.values", "m.values.Large": "m.sizes.Large"}
    assert list(positional(tree, "m.own", large, exports)) == [
        (11, "m.own.Own"),
        (12, "m.sizes.Large"),
        (13, "m.sizes.Large"),
    ]
