"""`nuggetstream recount` says which counters are wrong, and corrects them."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sqlalchemy import create_engine, text

from services.cli.main import main
from tests.databases import copy_of


def test_wrong_counters_are_reported_and_corrected(
    migrated_sqlite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = copy_of(migrated_sqlite, tmp_path)
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", url)
    engine = create_engine(f"sqlite:///{tmp_path / 'record.db'}")
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO battle_counters VALUES ('default', 'all', '', 3)"))
    engine.dispose()
    codes = []
    for arguments in (["--check"], [], ["--check"]):
        result = CliRunner().invoke(main, ["recount", *arguments])
        codes.append(result.exit_code)
        first = result.output.splitlines()[0].split()
        assert first[0] == "battle_counters"
        assert int(first[1]) == (1 if len(codes) < 3 else 0)
    assert codes == [1, 0, 0]
