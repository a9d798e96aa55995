"""Opening a file that somebody brings, plain or gzipped, with bounds on what it makes us hold in memory."""

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, cast

_GZIP = b"\x1f\x8b"
_LEAST_EXPANDED = 100_000_000  # bytes that any gzipped file may have
_MOST_TIMES = 200  # how many times larger than its file its content may be; text is up to 30 times larger
LONGEST_LINE = 64 * 1024 * 1024  # bytes
_BUFFER = 128 * 1024


class UnusableFile(ValueError):
    """The file as a whole cannot be read; says which file and why."""


@contextmanager
def opened(path: Path, *, longest_line: int | None = LONGEST_LINE) -> Iterator["io.BufferedReader[Any]"]:
    """A file as bytes, decompressed and without a byte order mark, for the duration of the block.

    Args:
        path: The file.
        longest_line: Bytes of the longest line that may be read; None for a file that is not read by line.

    Raises:
        UnusableFile: It cannot be read to its end, or is no UTF-8 text where the block decodes it; it expands
            to more than 100 MB and 200 times its size; or a line is too long.
    """
    try:
        with path.open("rb") as raw:
            plain = _Bounded(path, raw, longest_line)
            with io.BufferedReader(plain, _BUFFER) as file:
                if file.peek(len(BOM_UTF8)).startswith(BOM_UTF8):
                    file.read(len(BOM_UTF8))
                yield file
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path}: is not UTF-8 text: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error


@contextmanager
def opened_text(path: Path, *, longest_line: int | None = LONGEST_LINE) -> Iterator[io.TextIOWrapper]:
    """A file as UTF-8 text with its line ends as they are; arguments and errors as for `opened`."""
    with opened(path, longest_line=longest_line) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        yield text


class _Bounded(io.RawIOBase):
    """The decompressed bytes of a file; raises `UnusableFile` where they exceed a bound."""

    def __init__(self, path: Path, raw: io.BufferedReader, longest_line: int | None) -> None:
        self._path, self._longest = path, longest_line
        is_gzipped = raw.peek(len(_GZIP)).startswith(_GZIP)
        self._file = cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if is_gzipped else raw
        status = path.stat()
        self._most: int | None = None  # bytes; a pipe has no size to compare with
        if is_gzipped and S_ISREG(status.st_mode):
            self._most = max(_LEAST_EXPANDED, _MOST_TIMES * status.st_size)
        self._bytes = self._line = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes, see `io.RawIOBase.readinto`."""
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self._bytes += len(data)
        end = data.rfind(b"\n")
        self._line = self._line + len(data) if end < 0 else len(data) - end - 1
        if self._most is not None and self._bytes > self._most:
            raise UnusableFile(
                f"{self._path}: expands to more than {_MOST_TIMES} times its size; "
                "if you trust it, decompress it with gunzip first"
            )
        if self._longest is not None and self._line > self._longest:
            raise UnusableFile(f"{self._path}: a line is longer than {self._longest // 2**20} MB")
        return len(data)
