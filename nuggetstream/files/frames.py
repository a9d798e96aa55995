"""DataFrames: results become polars frames, and rows are read from the frame of any library.

polars writes frames and Parquet files. narwhals reads the frames of pandas, polars and pyarrow, each with its
own notion of a missing value; polars reads everything else that has `__arrow_c_stream__`. Both come with
`pip install '.[frames]'` and are imported when a frame is met, not before.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from nuggetstream.domain.inputs import present
from nuggetstream.extras import MissingExtra
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.table_data import Column, Kind, TableData

if TYPE_CHECKING:
    import polars

Shape: TypeAlias = "str | Sequence[Shape] | Mapping[str, Shape]"
"""Shape of a value in Parquet: "text", "count", "number" or "flag", a list of one shape, or an object."""
# How an object store is asked: one retry, and the credentials of the environment, whatever boto3 would find.
_STORE: dict[str, Any] = {"storage_options": {"max_retries": 1}, "credential_provider": None}
_BATCH = 64  # rows of Parquet that are in memory at once


class ArrowFrame(Protocol):
    """A frame that shares its columns over the Arrow PyCapsule protocol, as those of pandas and polars do."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The columns as a stream of Arrow record batches."""


Frame: TypeAlias = ArrowFrame


def frame_of(table: TableData) -> "polars.DataFrame":
    """A table as a polars frame; an interval becomes two columns and a missing cell null.

    Raises:
        MissingExtra: polars is not installed.
    """
    pl = _module("polars")
    types: Mapping[Kind, Any] = {
        Kind.TEXT: pl.String,
        Kind.COUNT: pl.Int64,
        Kind.NUMBER: pl.Float64,
        Kind.PERCENT: pl.Float64,
        Kind.CHANCE: pl.Float64,
        Kind.P_VALUE: pl.Float64,
        Kind.FLAG: pl.Boolean,
        Kind.MOMENT: pl.Datetime("us", "UTC"),
        Kind.INTERVAL: pl.Float64,
    }
    series = [
        pl.Series(name, values, dtype=types[column.kind])
        for index, column in enumerate(table.columns)
        for name, values in _values(column, [row[index] for row in table.rows])
    ]
    frame: polars.DataFrame = pl.DataFrame(series)
    return frame


def frame_records(frame: Frame, name: str = "DataFrame") -> Iterator[Record]:
    """The rows of a DataFrame; what its library calls missing is None.

    Args:
        frame: Of pandas, polars, pyarrow, or any library whose frames have `__arrow_c_stream__`.
        name: What errors call it; rows are counted from 0, as `frame.iloc[0]` does.

    Raises:
        MissingExtra: narwhals is not installed, or polars for a frame of another library.
    """
    nw = _module("narwhals")
    eager = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(eager, nw.DataFrame):
        eager = nw.from_native(_module("polars").DataFrame(frame), eager_only=True)
    names = eager.columns
    columns = [_cells(eager[column]) for column in names]
    for row_number, cells in enumerate(zip(*columns, strict=True)):
        yield Record(f"{name}, row {row_number}", dict(zip(names, cells, strict=True)))


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file with lists and objects as Python has them, in memory of a few rows.

    NaN is missing, as pandas writes it.

    Raises:
        UnusableFile: It cannot be read, or polars is not installed.
    """
    pl = _module("polars", path)
    try:
        numbers = pl.selectors.float()
        for batch in pl.scan_parquet(path).collect_batches(chunk_size=_BATCH):
            yield from batch.with_columns(numbers.fill_nan(None)).iter_rows(named=True)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnusableFile(f"{path}: is not Parquet: {error}") from error


def lines_to_parquet(lines: Path, path: Path, shape: Shape) -> None:
    """Write a file of JSON lines as Parquet, in memory of a few rows.

    Args:
        lines: JSONL, one object per line.
        path: The Parquet file.
        shape: Shape of a row; what a line does not have is missing.

    Raises:
        UnusableFile: polars is not installed.
    """
    pl = _module("polars", path)
    assert isinstance(shape, Mapping)  # noqa: S101 - a row is an object
    schema = {name: _type(pl, kind) for name, kind in shape.items()}
    if lines.stat().st_size == 0:
        pl.DataFrame(schema=schema).write_parquet(path)
        return
    pl.scan_ndjson(lines, schema=schema, batch_size=_BATCH).sink_parquet(path)


def send_parquet(path: Path, url: str) -> None:
    """Copy a Parquet file to an object store, in memory of a few rows.

    Args:
        path: The file.
        url: Where it is written, as in s3://bucket/name.parquet. Credentials, region and address of the
            store are those of the environment (AWS_ACCESS_KEY_ID and so on).

    Raises:
        UnusableFile: The store cannot be reached, or rejects this; or polars is not installed.
    """
    pl = _module("polars", path)
    try:
        pl.scan_parquet(path).sink_parquet(url, **_STORE)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise UnusableFile(_unreachable(url, error)) from error


def is_sent(url: str) -> bool:
    """Whether an object store has a Parquet file.

    Raises:
        UnusableFile: The store cannot be reached, or rejects this; or polars is not installed.
    """
    pl = _module("polars")
    try:
        pl.scan_parquet(url, **_STORE).collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, FileNotFoundError) or "404" in str(error):
            return False
        raise UnusableFile(_unreachable(url, error)) from error
    return True


def _unreachable(url: str, error: Exception) -> str:
    cause = str(error).splitlines()[0][:200]
    return f"{url}: the store does not answer, or rejects the credentials in AWS_ACCESS_KEY_ID: {cause}"


def _type(pl: Any, shape: Shape) -> Any:
    if isinstance(shape, str):
        return {"text": pl.String, "count": pl.Int64, "number": pl.Float64, "flag": pl.Boolean}[shape]
    if isinstance(shape, Mapping):
        return pl.Struct({name: _type(pl, kind) for name, kind in shape.items()})
    return pl.List(_type(pl, shape[0]))


def _cells(series: Any) -> list[Any]:
    missing = series.is_null().to_list()
    return [None if empty else present(cell) for cell, empty in zip(series.to_list(), missing, strict=True)]


def _values(column: Column, cells: list[Any]) -> list[tuple[str, list[Any]]]:
    if column.kind is not Kind.INTERVAL:
        return [(column.names[0], cells)]
    pairs = [(None, None) if cell is None else cell for cell in cells]
    return [(name, [pair[bound] for pair in pairs]) for bound, name in enumerate(column.names)]


def _module(name: str, path: Path | None = None) -> Any:
    """A library of the extra; where it is missing, an error of the file that it would read or write."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = MissingExtra(name, "frames")
        raise (missing if path is None else UnusableFile(f"{path}: is Parquet, and {missing}")) from error
