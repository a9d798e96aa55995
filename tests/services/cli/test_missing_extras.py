"""A command whose library is not installed names the extra that brings it."""

import click
import pytest
from click.testing import CliRunner, Result

from services.cli.commands.showing import needing_extras


def result_of(name: str) -> Result:
    @click.command()
    @needing_extras
    def command() -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    return CliRunner().invoke(command)


@pytest.mark.parametrize(
    ("package", "extra"), [("sklearn", "trees"), ("sacrebleu", "analysis"), ("starlette", "light")]
)
def test_the_extra_of_a_missing_package_is_named(package: str, extra: str) -> None:
    result = result_of(package)
    assert result.exit_code == 1
    assert result.output == f"Error: {package} is not installed: pip install '.[{extra}]' in a checkout\n"


def test_a_package_of_no_extra_is_a_bug() -> None:
    assert isinstance(result_of("numpy").exception, ModuleNotFoundError)
