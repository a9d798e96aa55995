"""A database URL that cannot work is refused in one line that says what to set or install."""

import sys

import pytest
from click.testing import CliRunner

from services.cli.main import main
from services.cli.wiring.database_url import UnusableDatabaseUrl, open_database

FORMS = "set postgresql+asyncpg://USER:PASSWORD@HOST/NAME or sqlite+aiosqlite:///FILE"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("foo", "is not a database URL"),
        ("postgresql+asyncpg://u@h:port/x", "is not a database URL"),
        ("sqlite:///x.db", "begins with sqlite://"),
        ("postgresql://u:secret@h/x", "begins with postgresql://"),
        ("mysql+aiomysql://h/x", "begins with mysql+aiomysql://"),
    ],
)
def test_a_url_that_cannot_work_is_refused_with_what_to_set(url: str, problem: str) -> None:
    with pytest.raises(UnusableDatabaseUrl) as refused:
        open_database(url)
    assert refused.value.message == f"NUGGETSTREAM_DATABASE_URL {problem}: {FORMS}"


def test_the_parameter_of_another_driver_is_named_as_this_one_calls_it() -> None:
    with pytest.raises(UnusableDatabaseUrl) as refused:
        open_database("postgresql+asyncpg://u@h/x?sslmode=require")
    told = "NUGGETSTREAM_DATABASE_URL says sslmode=require: write ssl=require for this driver"
    assert refused.value.message == told


def test_a_missing_driver_is_named_with_the_extra_that_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "asyncpg", None)  # as where it is not installed
    with pytest.raises(UnusableDatabaseUrl) as refused:
        open_database("postgresql+asyncpg://u@h/x")
    assert refused.value.message == "asyncpg is not installed: pip install '.[postgres]' in a checkout"


@pytest.mark.parametrize("command", [["migrate"], ["serve", "recorder"]])
def test_commands_end_with_that_line_and_no_traceback(command: list[str]) -> None:
    result = CliRunner(env={"NUGGETSTREAM_DATABASE_URL": "foo"}).invoke(main, command)
    assert result.exit_code == 1
    assert result.output == f"Error: NUGGETSTREAM_DATABASE_URL is not a database URL: {FORMS}\n"
