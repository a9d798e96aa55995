"""Which format is a file in, and what does it hold?

    path ──> container ──> first row ──> the first format that recognises it ──> battles or rows, one by one

Files whose rows are battles may mix formats: there each row is recognised by itself.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from shutil import copyfileobj
from tempfile import NamedTemporaryFile
from typing import Any

from nuggetstream.domain.inputs import is_mark, is_missing, marks_said
from nuggetstream.files.columns import column_in
from nuggetstream.files.dataset import BadLine, BattleLine
from nuggetstream.files.formats import annotations, arenas, labels, own, ragelo, runs, votes
from nuggetstream.files.formats.format import BATTLES, FileFormat, Line, Remark, Sample, Source, lines_of
from nuggetstream.files.formats.rows import Container, Row, container_of, rows_in, shown
from nuggetstream.files.opening import MissingFile, UnusableFile
from nuggetstream.files.outcomes import UnknownOutcome, spelling, words_of
from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.files.text import first_bytes

FORMATS: list[FileFormat] = [
    own.CROWDRAG25,
    own.RESULTS,
    arenas.SEARCH_ARENA,
    arenas.COMPARIA,
    arenas.CHATBOT_ARENA,
    arenas.LMSYS_55K,
    runs.NUGGETIZER_ASSIGNMENTS,
    runs.RAGDOLL,
    runs.TREC_RAG,
    ragelo.RAGELO,
    ragelo.RAGELO_VERDICTS,
    votes.RAGDOLL_JUDGMENTS,
    votes.ALPACA_EVAL,
    votes.MT_BENCH_PAIRS,
    annotations.RAGDOLL_SUPPORT,
    annotations.ARGQUALITY,
    annotations.ARGQUALITY_PAIRS,
    votes.PLAIN_VOTES,
    *labels.FORMATS,
    own.NUGGETSTREAM,
]
"""Every format that is read, tried in turn; the last takes most files, so a new one comes before it."""
SEE = "see docs/formats.md, or `nuggetstream import --formats`"
_ENDINGS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
_COMPRESSED = (".gz", ".bz2", ".xz")
_VOTES = ("vote", "winner")  # columns of the outcome of a battle
_LOOKED_AT = 20  # rows among which the first that can be read is looked for
_COLUMNS_SHOWN = 12


def format_named(name: str) -> FileFormat:
    """The format that options call by this name.

    Raises:
        UnusableFile: There is none; names those there are.
    """
    chosen = next((candidate for candidate in FORMATS if candidate.name == name), None)
    if chosen is None:
        raise UnusableFile(
            f"there is no format {name!r}; there are {', '.join(candidate.name for candidate in FORMATS)}"
        )
    return chosen


def recognised(path: Path, name: str | None = None, *, battles: bool = False) -> tuple[FileFormat, Source]:
    """The format of a file or folder, and what to read.

    Args:
        path: A file, or a folder of files in one format.
        name: Name of the format; None recognises it.
        battles: Whether it must hold battles.

    Raises:
        UnusableFile: It cannot be read, its format is unknown or it holds something else; says what.
    """
    files = _files(path)
    sample = _sample(path, files)
    matching = (candidate for candidate in FORMATS if candidate.recognises(sample))
    chosen = next(matching, None) if name is None else format_named(name)
    if chosen is None:
        raise UnusableFile(f"{path}: {_described(sample)}, which is no format of ours; {SEE}")
    if battles and chosen.holds != BATTLES:
        raise UnusableFile(f"{path}: is {chosen.title}: {chosen.holds}, not battles; see `{chosen.used_by}`")
    return chosen, Source(path=path, files=files, container=sample.container)


def read_battles(
    path: Path, documents: Mapping[str, str] | None = None, name: str | None = None
) -> Iterator[BattleLine | BadLine]:
    """The battles of a file or folder in order, in memory of one battle.

    Args:
        path: File in any format that holds battles, or folder of such files.
        documents: Text of a document by its id, for formats whose answers cite documents by id.
        name: Name of the format; None recognises it.

    Raises:
        UnusableFile: It cannot be read, its format is unknown, or it holds something else; says what.
    """
    for line in read_lines(path, documents, name):
        if isinstance(line, BattleLine | BadLine):
            yield line


def read_lines(
    path: Path,
    documents: Mapping[str, str] | None = None,
    name: str | None = None,
    *,
    battles: bool = True,
    outcomes: Mapping[str, str] | None = None,
    missing: Iterable[str] = (),
) -> Iterator[Line]:
    """What a file or folder holds, one by one.

    Args:
        path: File or folder.
        documents: Text of a document by its id.
        name: Name of the format; None recognises it.
        battles: Whether nothing but battles is expected.
        outcomes: What words and numbers in a column of outcomes mean.
        missing: Further values in such a column that mean that there is none.

    Raises:
        UnusableFile: As `read_battles`; without `battles` files that hold something else are read.
    """
    with _regular(path) as file:
        try:
            recognised_format, source = recognised(file, name, battles=battles)
            words_of(outcomes or {})
            source = replace(
                source, documents=documents or {}, outcomes=outcomes or {}, missing=frozenset(missing)
            )
            yield from _lines(recognised_format, source, name)
        except UnknownOutcome as error:
            raise UnusableFile(str(error)) from error
        except MissingFile:
            raise
        except UnusableFile as error:
            raise UnusableFile(str(error).replace(str(file), str(path))) from error


@contextmanager
def _regular(path: Path) -> Iterator[Path]:
    """A path that can be read twice: a pipe is copied to a temporary file."""
    if not path.exists() or path.is_file() or path.is_dir():
        yield path
        return
    with NamedTemporaryFile() as copy:
        with path.open("rb") as pipe:
            copyfileobj(pipe, copy)
        copy.flush()
        yield Path(copy.name)


def _lines(recognised_format: FileFormat, source: Source, name: str | None) -> Iterator[Line]:
    if recognised_format.read is not None:
        yield from recognised_format.read(source)
        return
    only = None if name is None else recognised_format
    marks = Counter[str]()
    yield from lines_of(
        source.rows(), lambda row: [_battle(_with_meanings(row, source, marks), source, only)]
    )
    if marks:
        yield Remark(marks_said(_VOTES[0], marks))


def _battle(row: Row, source: Source, format_of_rows: FileFormat | None) -> BattleLine:
    """The battle of a row, in the format that a person named or else in the one that recognises the row."""
    if format_of_rows is None:
        sample = Sample(source.container, row.value, (row.raw or b"").decode("utf-8", "replace"))
        of_rows = (candidate for candidate in FORMATS if candidate.battle_of is not None)
        format_of_rows = next(
            (candidate for candidate in of_rows if candidate.recognises(sample)), own.NUGGETSTREAM
        )
    battle_of = format_of_rows.battle_of
    assert battle_of is not None  # noqa: S101 - the caller chose a format of rows
    try:
        return BattleLine(row.line, *battle_of(row, source))
    except InvalidSubmission as error:
        raise InvalidSubmission(
            [_with_vote_named(problem, row.value) for problem in error.problems]
        ) from error


def _with_vote_named(problem: str, fields: Any) -> str:
    """What is wrong with a vote, with the vote itself."""
    name, _, what = problem.partition(": ")
    if name not in _VOTES or not what.startswith("expected") or not isinstance(fields, dict):
        return problem
    column = column_in(tuple(fields), (name,))
    return problem if column is None else f"{name}: is {shown(fields[column])}; {what}"


def _with_meanings(row: Row, source: Source, marks: Counter[str]) -> Row:
    """A row whose vote is one of ours, or none, where a person or a usual mark says so."""
    if not isinstance(row.value, dict):
        return row
    meanings = words_of(source.outcomes)
    for name in _VOTES:
        column = column_in(tuple(row.value), (name,))
        if column is None or is_missing(value := row.value[column]) or isinstance(value, list | dict):
            continue
        text, vote = str(value).strip(), None
        if is_mark(text, source.missing) and not _names_a_system(row.value, column, text):
            marks[text] += 1
        elif (meant := meanings.get(spelling(text))) is not None:
            vote = meant.value
        else:
            continue
        return replace(row, value={**row.value, column: vote}, raw=None)
    return row


def _names_a_system(fields: Mapping[str, Any], vote: str, text: str) -> bool:
    """Whether another cell, or the system of an answer, is the same text as the vote."""
    others = [value for name, value in fields.items() if name != vote]
    systems = [answer.get("system") for answer in others if isinstance(answer, dict)]
    return text in [value for value in (*others, *systems) if isinstance(value, str)]


def _files(path: Path) -> tuple[Path, ...]:
    if not path.is_dir():
        return (path,)
    files = [file for file in sorted(path.iterdir()) if file.is_file() and _ending(file) in _ENDINGS]
    if not files:
        raise UnusableFile(f"{path}: holds no file that ends with {', '.join(_ENDINGS)}")
    return tuple(files)


def _ending(file: Path) -> str:
    return Path(file.stem if file.suffix in _COMPRESSED else file.name).suffix


def _sample(path: Path, files: Sequence[Path]) -> Sample:
    folder = frozenset(file.name for file in files) if path.is_dir() else frozenset[str]()
    container = container_of(files[0])
    value = None
    for index, row in enumerate(rows_in(files[0], container)):
        if isinstance(row, Row) or index >= _LOOKED_AT:
            value = row.value if isinstance(row, Row) else None
            break
    text = "" if container is Container.PARQUET else first_bytes(files[0]).decode("utf-8", "replace")
    return Sample(container, value, text, folder)


def _described(sample: Sample) -> str:
    if not isinstance(sample.value, dict):
        return f"is {sample.container}"
    names = [*map(str, sample.value)]
    more = ", …" if len(names) > _COLUMNS_SHOWN else ""
    return f"is {sample.container} with the columns {', '.join(names[:_COLUMNS_SHOWN])}{more}"
