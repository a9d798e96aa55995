"""No regular expression of the product takes time that grows faster than the text that it reads.

Every pattern is fed long texts of one repeated part, in each way in which the code uses it. A text that is
four times as long may take four times as long, and not sixteen times.
"""

import ast
import importlib
import inspect
import re
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from nuggetstream.text.style import features

ROOT = Path(__file__).parents[2]
METHODS = {"search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
PARTS = (
    *" _a1.*[(<\n-#\"'`$,|~=/&{\\é中\t",
    *(
        "a ",
        "a.",
        ". ",
        "1.",
        "1,",
        "a-",
        "[a",
        "[1",
        "(a",
        "<a ",
        '"a',
        "$a",
        "a\n",
        "\n ",
        "* ",
        "# ",
        "**",
    ),
    *("[[", "](", "a@", "://", "http://a", "&a", "n1 ", "a: ", "- ", "a_", "1-", "1 ", "A.", "A ", ">"),
)
ENDS = ("", "\x00")
SHORT, LONG = 1500, 6000  # characters
WORTH_MEASURING = 0.001  # seconds for the short text
FAR_TOO_LONG = 0.2  # seconds for the short text
MOST = 8.0  # times as long for a text that is four times as long; halfway between linear and quadratic


def modules() -> Iterator[tuple[str, ast.Module]]:
    for top in ("nuggetstream", "services"):
        for path in sorted((ROOT / top).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def uses() -> dict[tuple[str, str, int], set[str]]:
    """How each pattern is used: module, pattern and flags -> names of methods."""
    found: dict[tuple[str, str, int], set[str]] = {}
    for name, tree in modules():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                continue
            method, owner = node.func.attr, node.func.value
            if method not in METHODS or not isinstance(owner, ast.Name):
                continue
            first = node.args[0] if node.args else None
            if owner.id == "re" and isinstance(first, ast.Constant) and isinstance(first.value, str):
                flags = re.compile(first.value, inline_flags(node, method)).flags
                found.setdefault((name, first.value, flags), set()).add(method)
                continue
            pattern = getattr(importlib.import_module(name), owner.id, None)
            if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
                found.setdefault((name, pattern.pattern, pattern.flags), set()).add(method)
    return found


def inline_flags(call: ast.Call, method: str) -> int:
    """The flags in a call such as `re.sub(pattern, new, text, flags=re.M)`."""
    place = {"sub": 4, "subn": 4, "split": 3}.get(method, 2)
    given = [keyword.value for keyword in call.keywords if keyword.arg == "flags"] or call.args[place:][:1]
    if not given:
        return 0
    return int(eval(compile(ast.Expression(given[0]), "flags", "eval"), {"re": re}))


def run(pattern: re.Pattern[str], method: str) -> Callable[[str], object]:
    if method in ("sub", "subn"):
        return lambda text: pattern.sub("", text)
    if method == "finditer":
        return lambda text: list(pattern.finditer(text))
    reads: Callable[[str], object] = getattr(pattern, method)
    return reads


def seconds(reads: Callable[[str], object], text: str) -> float:
    began = time.process_time()
    reads(text)
    return time.process_time() - began


def growth(reads: Callable[[str], object], part: str, end: str) -> float:
    """How many times as long a text takes that is four times as long; 0 where neither takes any time."""
    short, long = ((part * size)[:size] + end for size in (SHORT, LONG))
    once = seconds(reads, short)
    if once < WORTH_MEASURING:
        return 0.0
    if once > FAR_TOO_LONG:
        return float("inf")
    if (ratio := seconds(reads, long) / once) <= MOST:
        return ratio
    return min(seconds(reads, long) for _ in range(3)) / min(seconds(reads, short) for _ in range(3))


def slow(pattern: str, flags: int, methods: set[str]) -> str | None:
    """A way in which a pattern takes more than linear time; None where there is none."""
    compiled = re.compile(pattern, flags)
    ways = (
        f"{method} of {part!r} and {end!r}"
        for method in sorted(methods)
        for part in PARTS
        for end in ENDS
        if growth(run(compiled, method), part, end) > MOST
    )
    return next(ways, None)


@pytest.mark.slow
def test_a_quadratic_pattern_is_found() -> None:
    assert slow(r"\s*\Z", 0, {"search"})
    assert slow(r"(?<!\s)\s*\Z", 0, {"search"}) is None


def test_flags_of_an_inline_call_are_read() -> None:
    calls = ast.parse(
        "re.sub('a', '', text, flags=re.S | re.M); re.findall('a', text, re.I); re.search('a', text)"
    )
    flags = [
        inline_flags(node, node.func.attr)
        for node in ast.walk(calls)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    ]
    assert flags == [re.S | re.M, re.I, 0]


def functions_of_texts() -> Iterator[tuple[str, Callable[[str], object]]]:
    """The public functions of the room of texts that take one text and nothing else that is required."""
    for path in sorted((ROOT / "nuggetstream/text").rglob("*.py")):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        module = importlib.import_module(name)
        for public, function in vars(module).items():
            if public.startswith("_") or not inspect.isfunction(function) or function.__module__ != name:
                continue
            parameters = list(inspect.signature(function).parameters.values())
            takes_a_text = bool(parameters) and parameters[0].annotation is str
            if takes_a_text and all(map(_is_optional, parameters[1:])):
                yield f"{name}.{public}", partial(_called, function)
            elif name.endswith(".style") and public == "features":
                yield f"{name}.{public}", lambda text: features(text, 0)


def _is_optional(parameter: inspect.Parameter) -> bool:
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.default is not inspect.Parameter.empty or parameter.kind in variable


def _called(function: Callable[[str], object], text: str) -> None:
    with suppress(ValueError):  # a text that cannot be measured
        result = function(text)
        if isinstance(result, Iterator):
            deque(result, maxlen=0)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_function_of_texts_is_quadratic() -> None:
    functions = dict(functions_of_texts())
    for reads in functions.values():
        reads("Loads what it needs.")
    assert {
        "nuggetstream.text.style.features",
        "nuggetstream.text.citations.parse_citations",
    } <= functions.keys()
    found = {
        name: f"{part!r} and {end!r}"
        for name, reads in functions.items()
        for part in PARTS
        for end in ENDS
        if growth(reads, part, end) > MOST
    }
    assert found == {}


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_pattern_is_quadratic() -> None:
    found = {
        f"{module}: {pattern}": way
        for (module, pattern, flags), methods in uses().items()
        if (way := slow(pattern, flags, methods)) is not None
    }
    assert found == {}
