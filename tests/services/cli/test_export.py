"""`nuggetstream export`: which battles it takes, and what it says."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from nuggetstream.files.formats.exports import EXPORTS
from services.cli.main import main
from tests.evaluated import battle


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["export", *map(str, arguments)])


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(json.dumps(battle(name)) for name in ("b1", "b2")))
    return path


def test_results_are_written_and_counted(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(results, "--to", "votes", "--out", out)
    assert (result.exit_code, result.output) == (0, f"{out}: 2 rows of 2 battles\n")
    result = run(results, "--to", "run", "--out", out)
    assert result.output == f"{out}: 0 rows of 2 battles; 2 battles had nothing to write\n"


def test_what_is_no_result_is_named_with_line_and_field(results: Path, tmp_path: Path) -> None:
    with results.open("a") as file:
        file.write('\n{"id": "b3"}\n')
    result = run(results, "--to", "votes", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert f"{results}:3: arena: field required (and " in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--to", "votes"], "Name one of RESULTS, --url and --database"),
        (["results.jsonl", "--database", "--to", "votes"], "Name one of RESULTS, --url and --database"),
        (["results.jsonl", "--to", "votes", "--arena", "x"], "it needs --url or --database"),
        (["results.jsonl", "--to", "run", "--lens", "human"], "--lens is for votes"),
        (["results.jsonl", "--to", "tables"], "'tables' is not one of"),
    ],
)
def test_what_cannot_be_exported_is_said(tmp_path: Path, arguments: list[str], problem: str) -> None:
    result = run(*arguments, "--out", str(tmp_path / "file.jsonl"))
    assert result.exit_code == 2
    assert problem in result.output


def test_the_formats_are_listed_with_what_is_lost() -> None:
    result = run("--formats")
    assert result.exit_code == 0
    for known in EXPORTS:
        assert (
            f"{known.name}: {known.title}\n    written: {known.kept}\n    lost: {known.lost}" in result.output
        )
