"""Variables that look like settings but are none are named, with the setting whose name is nearest."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.main import main
from services.cli.wiring.environment import settings_variables, unknown_variables

SETTINGS = Path(__file__).resolve().parents[3] / "docs/operations/settings.md"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("NUGGETSTREAM_LLM_MODLE", "NUGGETSTREAM_LLM_MODEL"),
        ("NUGGETSTREAM_DATABSE_URL", "NUGGETSTREAM_DATABASE_URL"),
        ("NUGGETSTREAM_SCRAPER_USERAGENT", "NUGGETSTREAM_SCRAPER_USER_AGENT"),
        ("nuggetstream_proflie", "NUGGETSTREAM_PROFILE"),
        ("NUGGETSTREAM_QQQQ", None),
    ],
)
def test_a_misspelt_variable_is_found_with_the_nearest_name(name: str, nearest: str | None) -> None:
    assert unknown_variables({name: "x"}) == {name: nearest}


def test_settings_other_programs_variables_and_empty_ones_are_no_misspellings() -> None:
    known = dict.fromkeys(settings_variables(), "x") | {"nuggetstream_profile": "live"}
    others = {"PATH": "/bin", "NUGGETSTREAMS": "x", "NUGGETSTREAM_SERVICE": "scraper"}
    assert unknown_variables(known | others | {"NUGGETSTREAM_LLM_MODLE": ""}) == {}


def test_every_setting_is_on_the_page_of_settings() -> None:
    text = SETTINGS.read_text(encoding="utf-8")
    assert [name for name in sorted(settings_variables()) if name not in text] == []


def test_a_command_that_reads_settings_warns_once_for_each_name() -> None:
    environment = {
        "NUGGETSTREAM_DATABASE_URL": "foo",
        "NUGGETSTREAM_LLM_MODLE": "x",
        "NUGGETSTREAM_QQQQ": "x",
    }
    result = CliRunner(env=environment).invoke(main, ["serve", "recorder"])
    assert result.stderr.splitlines()[:2] == [
        "Warning: NUGGETSTREAM_LLM_MODLE is not a setting and is ignored; "
        "did you mean NUGGETSTREAM_LLM_MODEL?",
        "Warning: NUGGETSTREAM_QQQQ is not a setting and is ignored",
    ]
    assert result.output.count("Warning:") == 2


def test_a_command_without_settings_does_not_warn() -> None:
    result = CliRunner(env={"NUGGETSTREAM_LLM_MODLE": "x"}).invoke(main, ["rate", "--help"])
    assert "Warning" not in result.output
