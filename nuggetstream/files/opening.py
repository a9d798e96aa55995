"""Opening a file that somebody brings, with bounds on what it makes us hold in memory.

gzip, bzip2, xz                 decompressed
UTF-8, UTF-16, UTF-32           read as UTF-8, with or without a byte order mark
zip, zstandard and the like     rejected by name, with what to do
"""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, cast

_Open = Callable[[io.BufferedReader], BinaryIO]
_COMPRESSED: dict[bytes, tuple[str, _Open]] = {
    b"\x1f\x8b": ("gunzip", lambda raw: cast(BinaryIO, gzip.GzipFile(fileobj=raw))),
    **{
        b"BZh%d1AY&SY" % level: ("bunzip2", lambda raw: cast(BinaryIO, bz2.BZ2File(raw)))
        for level in range(1, 10)
    },
    b"\xfd7zXZ\x00": ("unxz", lambda raw: cast(BinaryIO, lzma.LZMAFile(raw))),  # noqa: SIM115
}
# How files begin that hold no text and are not decompressed, what people call them, and what to do.
_REJECTED = {
    b"PK\x03\x04": ("a zip archive or a spreadsheet", "unzip it, or save the sheet as CSV"),
    b"(\xb5/\xfd": ("compressed with zstandard", "decompress it with unzstd"),
    b"\x04\x22\x4d\x18": ("compressed with lz4", "decompress it with unlz4"),
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", "unpack it"),
    b"Rar!": ("a rar archive", "unpack it"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", "save the sheet as CSV"),
    b"%PDF": ("a PDF", "export the table as CSV"),
    b"SQLite format 3": ("an SQLite database", "export the table as CSV"),
    b"\x89HDF": ("an HDF5 file", "export the table as CSV or Parquet"),
    b"ARROW1": ("an Arrow file", "write it as Parquet"),
    b"\x80\x04\x95": ("a pickle of Python", "write it as CSV, JSONL or Parquet"),
}
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32-le",  # before that of UTF-16, with which it begins
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
_LOOKED_AT = 64  # bytes among which the zeros of UTF-16 are looked for
_MOSTLY = 0.8  # share of the bytes of one half that are zero in UTF-16 of Latin letters
_UTF_8 = "utf-8"
_LEAST_EXPANDED = 100_000_000  # bytes that any compressed file may have
_MOST_TIMES = 200  # how many times larger than its file its content may be; text is up to 30 times larger
LONGEST_LINE = 64 * 1024 * 1024  # bytes
_BUFFER = 128 * 1024


class UnusableFile(ValueError):
    """The file as a whole cannot be read; says which file and why."""


class MissingFile(UnusableFile, FileNotFoundError):
    """There is no such file; programs may catch it as Python's own error, too."""

    __str__ = ValueError.__str__  # the sentence, where OSError would show its number

    def __init__(self, message: str, path: Path) -> None:
        super().__init__(message)
        self.errno, self.filename = ENOENT, str(path)

    def __reduce__(self) -> tuple[object, ...]:
        return MissingFile, (str(self), Path(self.filename))


@contextmanager
def opened(path: Path, *, longest_line: int | None = LONGEST_LINE) -> Iterator["io.BufferedReader[Any]"]:
    """A file as bytes for the duration of the block: decompressed, in UTF-8, without a byte order mark.

    Args:
        path: The file.
        longest_line: Bytes of the longest line that may be read; None for a file that is not read by line.

    Raises:
        MissingFile: There is no such file; it is an `UnusableFile`, too.
        UnusableFile: It cannot be read to its end, or is no text where the block decodes it; it is in another
            container than gzip, bzip2 and xz; it expands to more than 100 MB and 200 times its size; or a
            line is too long.
    """
    try:
        with path.open("rb") as raw:
            bounded = _Bounded(path, raw, longest_line)
            with io.BufferedReader(bounded, _BUFFER) as file:
                start = file.peek(_LOOKED_AT)
                _reject_others(path, start)
                mark, encoding = _encoding(start)
                file.read(len(mark))
                if encoding == _UTF_8:
                    yield file
                else:
                    with io.BufferedReader(_InUtf8(file, encoding), _BUFFER) as text:
                        yield text
    except UnicodeDecodeError as error:
        raise UnusableFile(_undecodable(path, error)) from error
    except FileNotFoundError as error:
        if isinstance(error, MissingFile):  # of another file, which the block reads
            raise
        raise MissingFile(f"{path}: {error.strerror}", path) from error
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _reject_others(path: Path, start: bytes) -> None:
    if found := next((names for magic, names in _REJECTED.items() if start.startswith(magic)), None):
        what, advice = found
        raise UnusableFile(f"{path}: is {what}; {advice}")


def _encoding(start: bytes) -> tuple[bytes, str]:
    """The byte order mark and the encoding of a text; UTF-16 without a mark by the zeros of its letters."""
    for mark, encoding in _MARKS.items():
        if start.startswith(mark):
            return mark, encoding
    looked_at = start[:_LOOKED_AT]
    zeros = [looked_at[offset::2].count(0) for offset in (0, 1)]
    half = len(looked_at) // 2
    if half > 1 and max(zeros) > half * _MOSTLY and min(zeros) == 0:
        return b"", "utf-16-be" if zeros[0] else "utf-16-le"
    return b"", _UTF_8


def _undecodable(path: Path, error: UnicodeDecodeError) -> str:
    """What is wrong with a text, and the line of the first byte that cannot be read."""
    advice = "save it as UTF-8 (in Excel: CSV UTF-8)"
    if not error.encoding.casefold().startswith("utf-8") and error.encoding.casefold() != "utf8":
        return f"{path}: is no text in {error.encoding}: {error.reason}; {advice}"
    line = None
    with suppress(UnusableFile), opened(path, longest_line=None) as file:
        line = next((number for number, content in enumerate(file, 1) if not _is_utf_8(content)), None)
    where = f"{path}:{line}" if line else f"{path}"
    return f"{where}: is not UTF-8 text (byte 0x{error.object[error.start]:02X}); {advice}"


def _is_utf_8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


@contextmanager
def opened_text(path: Path, *, longest_line: int | None = LONGEST_LINE) -> Iterator[io.TextIOWrapper]:
    """A file as UTF-8 text with its line ends as they are; arguments and errors as for `opened`."""
    with opened(path, longest_line=longest_line) as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        yield text


class _InUtf8(io.RawIOBase):
    """A text in another encoding as UTF-8."""

    def __init__(self, file: "io.BufferedReader[Any]", encoding: str) -> None:
        self._file, self._ready = file, b""
        self._decode = codecs.getincrementaldecoder(encoding)().decode

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes, see `io.RawIOBase.readinto`."""
        while not self._ready:
            data = self._file.read(_BUFFER)
            self._ready = self._decode(data, not data).encode("utf-8", "surrogatepass")
            if not data:
                break
        part, self._ready = self._ready[: len(buffer)], self._ready[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


class _Bounded(io.RawIOBase):
    """The decompressed bytes of a file; raises `UnusableFile` where they exceed a bound."""

    def __init__(self, path: Path, raw: io.BufferedReader, longest_line: int | None) -> None:
        self._path, self._longest = path, longest_line
        start = raw.peek(_LOOKED_AT)
        compressed = next((own for magic, own in _COMPRESSED.items() if start.startswith(magic)), None)
        self._file: BinaryIO = raw
        self._tool = ""
        if compressed is not None:
            self._tool, unpack = compressed
            self._file = unpack(raw)
        status = path.stat()
        self._most: int | None = None  # bytes; a pipe has no size to compare with
        if compressed is not None and S_ISREG(status.st_mode):
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
                f"if you trust it, decompress it with {self._tool} first"
            )
        if self._longest is not None and self._line > self._longest:
            raise UnusableFile(f"{self._path}: a line is longer than {self._longest // 2**20} MB")
        return len(data)
