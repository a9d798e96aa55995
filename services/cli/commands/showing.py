"""How commands print results, and how they reject a file or a number."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import click
from rich.console import RenderableType

from nuggetstream.extras import MissingExtra, extras_named
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.printing import print_tables

P = ParamSpec("P")
R = TypeVar("R")
F = TypeVar("F", bound=Callable[..., Any])

plain_option = click.option(
    "--plain", is_flag=True, help="Print tab-separated rows; every other line begins with #."
)


class BadInput(click.ClickException):
    """A file or option cannot be used: exit code 2."""

    exit_code = 2


class Number(click.FloatRange):
    """A finite number in a range; click alone accepts `nan`, which is neither below nor above a bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number, or a usage error that names the option."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no number.", param, ctx)
        return number


class NewFolder(click.Path):
    """A folder for what a command writes: neither it nor a folder around it is a file."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The folder, or a usage error that names the file in its way."""
        folder = Path(str(super().convert(value, param, ctx)))
        for around in folder.parents:
            if around.exists() and not around.is_dir():
                self.fail(f"Directory {str(folder)!r} cannot be made: {str(around)!r} is a file.", param, ctx)
        return folder


NEW_FOLDER = NewFolder()


def with_options(options: Sequence[Callable[[Any], Any]]) -> Callable[[F], F]:
    """Add options to a command, in the order of the list."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def show(tables: RenderableType, *, plain: bool = False) -> None:
    """Print tables and lines: boxes on a terminal, aligned columns in a file or pipe.

    Args:
        tables: a table, a line, or a group of both.
        plain: print tab-separated rows instead.
    """
    print_tables(tables, plain=plain)


def show_written(files: Iterable[Path | str], *, plain: bool = False) -> None:
    """Name the files that were written; on standard error beside tab-separated rows."""
    for file in files:
        click.echo(f"written: {file}", err=plain)


def needing_extras(command: Callable[P, R]) -> Callable[P, R]:
    """A command that imports libraries of extras when it runs, and names the extra where one is missing."""

    @wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with extras_named():
                return command(*args, **kwargs)
        except MissingExtra as error:
            raise click.ClickException(str(error)) from error

    return guarded


@contextmanager
def refusing(*refused: type[Exception]) -> Iterator[None]:
    """Turn errors about the input into exit code 2, and those about the machine into 1."""
    try:
        yield
    except refused as error:
        raise BadInput(str(error)) from error
    except OSError as error:
        kind = BadInput if isinstance(error, UnusableFile) else click.ClickException  # a file is missing
        raise kind(str(error)) from error
