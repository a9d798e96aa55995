"""`nuggetstream keys` on a database of its own."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from services.cli.main import main
from tests.databases import copy_of


@pytest.fixture
def url(migrated_sqlite: Path, tmp_path: Path) -> str:
    return copy_of(migrated_sqlite, tmp_path)


def run(url: str, *arguments: str) -> Result:
    return CliRunner().invoke(main, ["keys", *arguments], env={"NUGGETSTREAM_DATABASE_URL": url})


def test_keys_are_created_listed_rotated_and_revoked(url: str) -> None:
    made = run(
        url, "create", "arena", "--role", "submit", "--role", "vote", "--arena", "mine", "--days", "90"
    )
    assert made.exit_code == 0, made.output
    key_id, token = made.stderr.split()[1], made.stdout.strip()
    assert token.startswith(f"ngs_{key_id}_")
    assert (
        run(url, "create", "Ada", "--user", "ada@example.org", "--role", "read", "--all-arenas").exit_code
        == 0
    )
    again = run(url, "create", "Ada", "--user", "ada@example.org", "--role", "read", "--all-arenas")
    assert "has rights already" in again.output
    rotated = run(url, "rotate", key_id, "--overlap-hours", "2")
    assert rotated.stdout.strip() not in ("", token)
    assert run(url, "revoke", key_id).exit_code == 0
    listed = run(url, "list", "--json").stdout
    assert token.split("_", 2)[2] not in listed
    keys = [json.loads(line) for line in listed.splitlines()]
    assert [(key["name"], key["state"].split()[0]) for key in keys] == [
        ("arena", "revoked"),
        ("Ada", "valid"),
        ("arena", "valid"),
    ]
    assert (keys[2]["replaces"], keys[2]["roles"], keys[2]["arenas"]) == (
        key_id,
        ["submit", "vote"],
        ["mine"],
    )
    assert "arena" in run(url, "list").stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["create", "x", "--role", "read"], "--all-arenas"),
        (["create", "x", "--role", "read", "--arena", "a", "--all-arenas"], "--all-arenas"),
        (["create", "x", "--arena", "a"], "--role"),
        (["create", "x", "--role", "owner", "--arena", "a"], "owner"),
        (["revoke", "unknown"], "there is no key 'unknown'"),
        (["rotate", "unknown"], "that can be rotated"),
    ],
)
def test_what_cannot_be_done_is_said(url: str, arguments: list[str], problem: str) -> None:
    result = run(url, *arguments)
    assert result.exit_code != 0
    assert problem in result.output
