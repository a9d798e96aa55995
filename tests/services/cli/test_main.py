"""The command itself: a list that is there at once, and every entry of it works."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

import services.cli.main
from services.cli.commands.sections import Sectioned
from services.cli.main import COMMANDS, GROUPS, main
from tests.documents import ROOT

LISTED = """
import sys
import services.cli.main
from services.cli.main import main
main(["--help"], standalone_mode=False)
print([name for name in sys.modules if name.startswith("services.cli.commands")])
"""


def test_the_list_of_commands_is_whole_and_imports_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True)
    sections = re.findall(r"^(\w+):\n((?:  .+\n)+)", done.stdout, re.MULTILINE)
    listed = {title: [line.split()[0] for line in lines.splitlines()] for title, lines in sections[1:]}
    assert listed == {title: list(commands) for title, commands in GROUPS.items()}
    assert done.stdout.endswith("[]\n")


def test_the_page_of_commands_has_the_groups_of_the_help() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| (\w+) \| \|\n\|---\|---\|\n((?:\|.+\n)+)", page, re.MULTILINE)
    listed = {title: set(re.findall(r"`([\w-]+)`(?=[^|]*\| )", rows)) for title, rows in tables}
    assert listed == {title.lower(): set(commands) for title, commands in GROUPS.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: main {name} ")


def help_texts(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    context = click.Context(command, info_name=path[-1], terminal_width=80)
    yield path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from help_texts(inner, (*path, name))


def test_no_line_of_any_help_is_longer_than_80_columns_or_cut() -> None:
    texts = dict(help_texts(main, ("nuggetstream",)))
    assert ("nuggetstream", "failures", "list") in texts
    lines = [(path, line) for path, text in texts.items() for line in text.splitlines()]
    assert [(path, line) for path, line in lines if len(line) > 80] == []
    assert [(path, line) for path, line in lines if re.match(r"  \S.*\.\.\.$", line)] == []


@pytest.mark.parametrize(
    ("typed", "suggested"),
    [
        (["rat"], "No such command 'rat'. Did you mean 'rate'?"),
        (["evaluate"], "No such command 'evaluate'. Did you mean 'eval'?"),
        (["keys", "creat"], "No such command 'creat'. Did you mean 'create'?"),
        (["crowd", "grads", "votes.csv"], "No such command 'grads'. Did you mean 'grades'?"),
        (["rate", "--resample", "9"], "No such option '--resample'. Did you mean '--resamples'?"),
        (["xyzzy"], "No such command 'xyzzy'.\n"),
    ],
)
def test_an_unknown_command_or_option_suggests_the_nearest(typed: list[str], suggested: str) -> None:
    result = CliRunner().invoke(main, typed)
    assert result.exit_code == 2
    assert suggested in result.output


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_ctrl_c_ends_a_command_without_an_error(
    raised: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a library makes of the KeyboardInterrupt in the middle of its work."""

    def interrupted(_: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt as error:
            raise raised from error

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(services.cli.main, "_imported", interrupted)
    try:
        result = CliRunner().invoke(main, ["up"])
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.exit_code, result.output) == (130, "stopping\n")


def test_a_command_gives_ctrl_c_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    CliRunner().invoke(main, ["up", "--help"])
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("name", [["rate"], ["crowd", "agreement"], ["offline-model"]])
def test_many_options_are_in_sections(name: list[str]) -> None:
    printed = CliRunner().invoke(main, [*name, "--help"]).output
    sections = re.findall(r"^(\w[\w ]+):\n((?:  .+\n)+)", printed, re.MULTILINE)
    sizes = {title: len(re.findall(r"^  -", lines, re.MULTILINE)) for title, lines in sections}
    assert sum(sizes.values()) == len(re.findall(r"^  -", printed, re.MULTILINE))
    assert next(iter(sizes)) == "Options"
    assert 3 < len(sizes) < 9
    assert max(sizes.values()) < 13


def test_every_section_begins_with_an_option_that_exists() -> None:
    with pytest.raises(ValueError, match="b"):
        Sectioned("test", params=[click.Option(["--a"])], sections={"a": "First", "b": "Second"})
