"""The column "read by" of the page of settings names the services whose wiring reads a setting."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from services.cli.wiring.registry import SERVICES
from services.cli.wiring.settings import PipelineSettings, PlatformSettings

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs/operations/settings.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `NUGGETSTREAM_([A-Z0-9_]+)` \| ([^|]*) \|", PAGE, re.MULTILINE))
OWNERS = {"pipeline", "platform", "settings", "self"}  # names under which the wiring has settings
FIELDS = [*PipelineSettings.model_fields, *PlatformSettings.model_fields]


@cache
def functions() -> dict[str, list[set[str]]]:
    """The functions and methods of the wiring by name, each with the names and settings that it uses."""
    found: dict[str, list[set[str]]] = {}
    for path in (ROOT / "services/cli/wiring").glob("*.py"):
        if path.name in ("embedded.py", "dry_run_endpoints.py"):  # one process for all services
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                name = f"open_{path.stem}" if node.name == "open_service" else node.name
                found.setdefault(name, []).append(set(used(node)))
    return found


def used(function: ast.AST) -> Iterator[str]:
    """Every name that a function mentions, and every attribute of something that has settings."""
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            owner = node.value
            name = owner.id if isinstance(owner, ast.Name) else getattr(owner, "attr", None)
            if name in OWNERS:
                yield node.attr


@cache
def reads(service: str) -> set[str]:
    """Every name that the wiring of a service reaches, from function to function."""
    reached, waiting = set[str](), {f"open_{service}"}
    while waiting:
        names = {name for uses in functions().get(waiting.pop(), []) for name in uses} - reached
        reached |= names
        waiting |= names & set(functions())
    return reached


def test_the_wiring_is_followed_through_functions_and_properties() -> None:
    assert all(f"open_{service}" in functions() for service in SERVICES)
    assert "evidence_characters" in reads("nuggetizer")  # by a property of the settings
    assert "tie_policy" not in reads("nuggetizer")


@pytest.mark.parametrize("field", FIELDS)
def test_a_setting_is_read_by_the_services_that_the_page_names(field: str) -> None:
    named = re.findall(r"[a-z]+", re.sub(r"`[^`]*`", "", ROWS[field.upper()]))
    if "all" in named or named == ["bootstrap"]:
        return
    assert set(named) & set(SERVICES) == {service for service in SERVICES if field in reads(service)}
