"""The text of a file that somebody brings, plain or gzipped."""

import gzip
import io
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from nuggetstream.files.dataset import UnusableFile

_GZIP = b"\x1f\x8b"
# How files that are no text begin, and what people call them.
_OTHERS = {b"PAR1": "Parquet", b"PK\x03\x04": "a zip archive or a spreadsheet", b"\xfd7zXZ": "xz"}
_LOOKED_AT = 4096  # bytes from which a format is recognised


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, decompressed, without a byte order mark and blanks; empty for an empty file.

    Raises:
        UnusableFile: It cannot be read.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(2)[:2] == _GZIP
            with gzip.open(raw) if zipped else raw as file:
                start = file.read(_LOOKED_AT).removeprefix(BOM_UTF8).lstrip()
                while not start and (more := file.read(_LOOKED_AT)):
                    start = more.lstrip()
    except (OSError, EOFError, zlib.error) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    return start


def read_text(path: Path) -> str:
    """A whole file as text; a byte order mark is no part of it.

    Raises:
        UnusableFile: it cannot be read, or is no UTF-8 text.
    """
    try:
        content = path.read_bytes()
        plain = gzip.decompress(content) if content.startswith(_GZIP) else content
    except (OSError, EOFError, zlib.error) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error
    _check_text(path, plain)
    try:
        return plain.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path}: is not UTF-8 text: {error}") from error


def read_text_lines(path: Path) -> Iterator[str]:
    """The lines of a file as `read_text` reads it, in memory of one line. Only a line feed ends a line.

    Raises:
        UnusableFile: As `read_text`.
    """
    try:
        with path.open("rb") as raw:
            zipped = raw.peek(len(_GZIP)).startswith(_GZIP)
            with cast(io.BufferedReader, gzip.open(raw)) if zipped else raw as file:
                _check_text(path, file.peek(_LOOKED_AT))
                with io.TextIOWrapper(file, encoding="utf-8-sig", newline="\n") as text:
                    yield from text
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path}: is not UTF-8 text: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UnusableFile(f"{path}: {getattr(error, 'strerror', None) or error}") from error


def _check_text(path: Path, content: bytes) -> None:
    """Check that a file does not begin as one that is no text.

    Raises:
        UnusableFile: It does; says what it is.
    """
    if found := next((name for start, name in _OTHERS.items() if content.startswith(start)), None):
        raise UnusableFile(f"{path}: is {found}; expected text, plain or gzipped")
