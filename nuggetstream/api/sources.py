"""Rows from wherever a notebook has them, and errors in the words of Python."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar, cast

from nuggetstream.domain.inputs import ROWS, VALUES, Kind, check_kind, kind_of, present, type_named
from nuggetstream.extras import extras_named
from nuggetstream.files.frames import Frame, frame_records
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.records import read_records

P = ParamSpec("P")
R = TypeVar("R")
Row: TypeAlias = Mapping[str, Any] | Sequence[Any]
Rows: TypeAlias = str | Path | Frame | Iterable[Row]
# Options of commands that are said in another way in Python; every other one is a keyword of the same name.
_PHRASES = (
    (re.compile(r"--outcome (\S+)=(\w+) --outcome (\S+)=(\w+)"), r'outcomes={"\1": "\2", "\3": "\4"}'),
    (re.compile(r"--outcome (\S+)=(\w+)"), r'outcomes={"\1": "\2"}'),
    (re.compile(r"--outcome"), "outcomes="),
    (re.compile(r"--where (\S+)=(\S+)"), r'where={"\1": "\2"}'),
    (re.compile(r"--weigh, such as --weigh (\S+)=1"), r'lens=, such as lens="\1"'),
    (re.compile(r"--by (\w+)"), r'by="\1"'),
    (re.compile(r"--runs or --graded"), "runs="),
    (re.compile(r"--runs and --graded are"), "runs= is"),
    (re.compile(r"--labels"), "order="),
)
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")


def rows_of(
    source: Rows, columns: Sequence[str], name: str | None = None, argument: str | None = None
) -> tuple[Path, list[Record]]:
    """The rows of a source, and what errors call it.

    Args:
        source: Path of a file, a DataFrame, or rows: dictionaries, or tuples of `columns`.
        columns: Names of the cells of a tuple.
        name: Name of the source; by default the path, "DataFrame" or "rows".
        argument: Name of the argument that has the source, for errors; by default `name`, or "rows".

    Raises:
        NotAccepted: It is something else, such as one dictionary or an open file.
        UnusableFile: It holds no row, or a row is neither a dictionary nor such a tuple.
    """
    kind = check_kind(argument or name or "rows", source, ROWS, _rows_expected(columns))
    if kind is Kind.PATH:
        path = Path(cast("str | Path", source))
        return path, read_records(path)
    called = name or ("DataFrame" if kind is Kind.FRAME else "rows")
    if kind is Kind.FRAME:
        records = list(frame_records(cast("Frame", source), called))
    else:
        rows = enumerate(cast("Iterable[Row]", source))
        records = [_record(f"{called}, row {row_number}", row, columns) for row_number, row in rows]
    if not records:
        raise UnusableFile(f"{called}: holds no row")
    return Path(called), records


def path_of(argument: str, value: object, what: str) -> Path:
    """The path of a file that a function reads from the file alone.

    Args:
        argument: Name of the argument, for errors.
        value: What the caller handed over.
        what: What the file is, for errors.

    Raises:
        NotAccepted: It is no path.
    """
    check_kind(argument, value, (Kind.PATH,), f"the path of {what}")
    return Path(cast("str | Path", value))


def names_of(argument: str, value: str | Iterable[object]) -> tuple[str, ...]:
    """Names of systems, columns or measures; a text is one name, and not its letters.

    Raises:
        NotAccepted: It is no list of names.

    >>> names_of("systems", "atlas"), names_of("systems", ["atlas", "birch"])
    (('atlas',), ('atlas', 'birch'))
    """
    if isinstance(value, str):
        return (value,)
    check_kind(argument, value, (*VALUES, Kind.SET), "a list of names")
    return tuple(str(name) for name in value)


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


def _rows_expected(columns: Sequence[str]) -> str:
    tuples = f" or tuples ({', '.join(columns)})" if columns else ""
    return f"the path of a file, a DataFrame, or a list of rows: dictionaries{tuples}"


def _record(location: str, row: object, columns: Sequence[str]) -> Record:
    if hasattr(row, "_asdict") and len(cast("Sequence[Any]", row)) != len(columns):  # a named tuple
        row = row._asdict()
    if isinstance(row, Mapping):
        return Record(location, {str(name): present(value) for name, value in row.items()})
    if kind_of(row) is Kind.SEQUENCE and len(cells := tuple(cast("Sequence[Any]", row))) == len(columns):
        return Record(location, {name: present(cell) for name, cell in zip(columns, cells, strict=True)})
    raise UnusableFile(
        f"{location}: is {type_named(row)}; expected a dictionary or ({', '.join(columns)})"
        if columns
        else f"{location}: is {type_named(row)}; expected a dictionary"
    )
