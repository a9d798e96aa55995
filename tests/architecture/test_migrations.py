"""The migrations are one chain: each has the next number, its file is named after it, and nothing forks."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
from alembic.script import ScriptDirectory

from services.store.migrate import config
from tests.architecture.test_shape import MIGRATIONS

_FIELD = re.compile(r'^(revision|down_revision)\b[^=\n]*= *(?:"([^"]*)"|None)', re.MULTILINE)


def faults(folder: Path) -> list[str]:
    """What is wrong with the migrations of a folder; nothing where they are one chain without a gap."""
    files = sorted(folder.glob("[!_]*.py"))
    fields = [fields_of(file) for file in files]
    found = []
    for number, (file, own) in enumerate(zip(files, fields, strict=True), start=1):
        expected = f"{number:04}"
        previous = f"{number - 1:04}" if number > 1 else None
        if not file.name.startswith(f"{expected}_"):
            found.append(f"{file.name}: the next number is {expected}")
        if own.get("revision") != expected:
            found.append(f"{file.name}: its revision is {own.get('revision')}, not {expected}")
        if own.get("down_revision") != previous:
            found.append(f"{file.name}: it follows {own.get('down_revision')}, not {previous}")
    return found


def fields_of(file: Path) -> Mapping[str, str | None]:
    """The revision of a migration and the one before it."""
    return {name: value or None for name, value in _FIELD.findall(file.read_text(encoding="utf-8"))}


def written(folder: Path, *revisions: tuple[str, str | None]) -> Path:
    """A folder with migrations of these revisions, each with the one that it follows."""
    for place, (revision, follows) in enumerate(revisions):
        down = f'"{follows}"' if follows else "None"
        text = f'revision = "{revision}"\ndown_revision = {down}\n'
        (folder / f"{revision}_change_{place}.py").write_text(text, encoding="utf-8")
    return folder


def test_the_migrations_are_one_chain() -> None:
    assert (MIGRATIONS / "0001_initial_schema.py").exists()
    assert faults(MIGRATIONS) == []


def test_alembic_finds_one_head() -> None:
    script = ScriptDirectory.from_config(config(None))
    assert len(script.get_heads()) == 1


@pytest.mark.parametrize(
    ("revisions", "fault"),
    [
        ([("0001", None), ("0002", "0001"), ("0002", "0001")], "0002_change_2.py: the next number is 0003"),
        ([("0001", None), ("0003", "0001")], "0003_change_1.py: the next number is 0002"),
        ([("0001", None), ("0002", "0001"), ("0003", "0001")], "0003_change_2.py: it follows 0001, not 0002"),
    ],
    ids=["one number twice", "a gap", "two heads"],
)
def test_a_broken_chain_is_noticed(
    tmp_path: Path, revisions: list[tuple[str, str | None]], fault: str
) -> None:
    assert faults(written(tmp_path, *revisions[:1])) == []
    assert fault in faults(written(tmp_path, *revisions))
