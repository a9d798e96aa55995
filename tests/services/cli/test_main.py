"""The command itself: a list that is there at once, and every entry of it works."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from services.cli.main import COMMANDS, main

LISTED = """
import sys
from services.cli.main import main
main(["--help"], standalone_mode=False)
print([name for name in sys.modules if name.startswith("services.cli.commands")])
"""


def test_the_list_of_commands_is_whole_and_imports_none_of_them() -> None:
    done = subprocess.run([sys.executable, "-c", LISTED], capture_output=True, text=True, check=True)
    listed = [line.split()[0] for line in done.stdout.split("Commands:\n")[1].splitlines()[:-1]]
    assert listed == list(COMMANDS)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: main {name} ")


def test_an_unknown_command_is_said_to_be_one() -> None:
    result = CliRunner().invoke(main, ["evaluate"])
    assert result.exit_code == 2
    assert "No such command 'evaluate'" in result.output
