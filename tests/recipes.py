"""The recipes of CONTRIBUTING.md and of the page about evaluators, as a reader would copy them."""

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[1]
GUIDE = "\n".join(
    (ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "docs/adding-an-evaluator.md")
)
_WRITE = re.compile(r"Write `([\w/]+\.py)`:\n\n(?: *<!--[^\n]*-->\n)?( *)```python\n(.*?)\n\2```", re.DOTALL)
_ADD = re.compile(r"Import it in\s+`([\w/]+\.py)`\s+and add\s+`([^`]+)`\s+to\s+`(\w+)`")


def modules() -> dict[str, str]:
    """Source of every module that a recipe writes, by its path."""
    return {path: dedent(code) + "\n" for path, _, code in _WRITE.findall(GUIDE)}


def module(path: str) -> ModuleType:
    """A module that a recipe writes."""
    written = ModuleType(path.removesuffix(".py").replace("/", "."))
    exec(compile(modules()[path], f"recipe of {path}", "exec"), vars(written))
    return written


def entry(path: str, table: str, names: dict[str, Any]) -> Any:
    """What a recipe adds to a table: an item of a list, or a dictionary with one item."""
    (code,) = [code for file, code, name in _ADD.findall(GUIDE) if (file, name) == (path, table)]
    return eval(f"{{{code}}}" if ":" in code else code, names)
