"""Rows from wherever a notebook has them, and errors in the words of Python."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from nuggetstream.extras import extras_named
from nuggetstream.files.frames import Frame, frame_records, is_frame
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.records import read_records

P = ParamSpec("P")
R = TypeVar("R")
Row: TypeAlias = Mapping[str, Any] | Sequence[Any]
Rows: TypeAlias = str | Path | Frame | Iterable[Row]
# Options of commands that are said in another way in Python; every other one is a keyword of the same name.
_PHRASES = (
    (re.compile(r"--where (\S+)=(\S+)"), r'where={"\1": "\2"}'),
    (re.compile(r"--weigh, such as --weigh (\S+)=1"), r'lens=, such as lens="\1"'),
    (re.compile(r"--by (\w+)"), r'by="\1"'),
    (re.compile(r"--runs or --graded"), "runs="),
    (re.compile(r"--runs and --graded are"), "runs= is"),
    (re.compile(r"--labels"), "order="),
)
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def rows_of(source: Rows, columns: Sequence[str], name: str | None = None) -> tuple[Path, list[Record]]:
    """The rows of a source, and what errors call it.

    Args:
        source: Path of a file, a DataFrame, or rows: dictionaries, or tuples of `columns`.
        columns: Names of the cells of a tuple.
        name: Name of the source; by default the path, "DataFrame" or "rows".

    Raises:
        UnusableFile: It holds no row, or a row is neither a dictionary nor such a tuple.
    """
    if isinstance(source, str | Path):
        return Path(source), read_records(Path(source))
    called = name or ("DataFrame" if is_frame(source) else "rows")
    if is_frame(source):
        records = list(frame_records(source, called))
    else:
        rows = enumerate(cast("Iterable[Row]", source))
        records = [_record(f"{called}, row {row_number}", row, columns) for row_number, row in rows]
    if not records:
        raise UnusableFile(f"{called}: holds no row")
    return Path(called), records


def reject_unknown(given: Mapping[str, object], allowed: type) -> None:
    """Reject a keyword argument that nothing reads.

    Args:
        given: Keyword arguments.
        allowed: The TypedDict that names those there are.

    Raises:
        TypeError: There is no such argument.
    """
    names = allowed.__annotations__
    if unknown := [name for name in given if name not in names]:
        raise TypeError(
            f"unexpected keyword argument {unknown[0]!r}; {allowed.__name__} are {', '.join(names)}"
        )


def in_python(function: Callable[P, R]) -> Callable[P, R]:
    """Let the errors of a function name keyword arguments where the rooms name options of commands.

    A package that is missing is named with the extra that brings it.
    """

    @wraps(function)
    def worded(*given: P.args, **named: P.kwargs) -> R:
        try:
            with extras_named():
                return function(*given, **named)
        except ValueError as error:
            error.args = (in_words_of_python(str(error)),)
            raise

    return worded


def in_words_of_python(message: str) -> str:
    """A message with options of commands as keyword arguments.

    >>> in_words_of_python("has no column winner, and --winner names none")
    'has no column winner, and winner= names none'
    >>> in_words_of_python("choose one with --where arena=demo")
    'choose one with where={"arena": "demo"}'
    """
    for phrase, words in _PHRASES:
        message = phrase.sub(words, message)
    return _OPTION.sub(lambda match: f"{match[1].replace('-', '_')}=", message)


def is_missing(value: object) -> bool:
    """Whether a value of a list or a frame's column is missing: None, NaN, or pandas' own value."""
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124 - NaN differs


def _record(location: str, row: object, columns: Sequence[str]) -> Record:
    if isinstance(row, Mapping):
        return Record(location, row)
    if isinstance(row, Sequence) and not isinstance(row, str) and len(row) == len(columns):
        return Record(location, dict(zip(columns, row, strict=True)))
    raise UnusableFile(f"{location}: is {row!r}; expected a dictionary or ({', '.join(columns)})")
