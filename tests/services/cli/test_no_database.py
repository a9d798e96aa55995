"""A command that works on a stored database says that there is none, and leaves no empty file behind."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.main import main

COMMANDS = {
    "recount": ["recount", "--check"],
    "canary": ["canary"],
    "export": ["export", "--database", "--to", "votes", "--out", "votes.csv"],
    "reindex": ["reindex", "--model", "none"],
    "keys": ["keys", "list"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_it_names_the_missing_file_and_what_to_do(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NUGGETSTREAM_DATABASE_URL", raising=False)
    result = CliRunner().invoke(main, COMMANDS[name])
    assert result.exit_code == 1
    assert (
        "there is no database file nuggetstream.db: name an existing one in NUGGETSTREAM_DATABASE_URL, "
        "or run `nuggetstream migrate`" in result.output
    )
    assert not (tmp_path / "nuggetstream.db").exists()
    assert not (tmp_path / "votes.csv").exists()
