"""How commands show what they found, and how they refuse a file or a number."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import click
from rich.console import Console, RenderableType

P = ParamSpec("P")
R = TypeVar("R")

_WIDTH_OF_A_FILE = 140  # a table read from a log is not cut to the 80 columns of a terminal that is not there


class BadInput(click.ClickException):
    """A file or a question that has no answer: exit code 2."""

    exit_code = 2


class Number(click.FloatRange):
    """A finite number in a range: `nan` is beyond no end, so click alone lets it through."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or a usage error that names the option."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


def show(found: RenderableType) -> None:
    """Print tables and lines."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH_OF_A_FILE)
    console.print(found, highlight=False)


def needing_analysis(command: Callable[P, R]) -> Callable[P, R]:
    """A command that imports the libraries of the extra `analysis` when it runs, and says so without them."""

    @wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except ModuleNotFoundError as error:
            hint = f"{error.name} is not installed; install nuggetstream[analysis]"
            raise click.ClickException(hint) from error

    return guarded


@contextmanager
def refusing(*refused: type[Exception]) -> Iterator[None]:
    """Turn errors about the input into exit code 2, and those about the machine into 1."""
    try:
        yield
    except refused as error:
        raise BadInput(str(error)) from error
    except OSError as error:
        raise click.ClickException(str(error)) from error
