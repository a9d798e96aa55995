"""The text of a file that somebody brings, plain or compressed."""

from collections.abc import Iterator
from pathlib import Path

from nuggetstream.files.opening import UnusableFile, opened, opened_text

_PARQUET = b"PAR1"
_LOOKED_AT = 4096  # bytes from which a format is recognised


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, decompressed, without a byte order mark and blanks; empty for an empty file.

    Raises:
        UnusableFile: As `opened`.
    """
    with opened(path, longest_line=None) as file:
        start = file.read(_LOOKED_AT).lstrip()
        while not start and (more := file.read(_LOOKED_AT)):
            start = more.lstrip()
    return start


def read_text(path: Path) -> str:
    """A whole file as text; a byte order mark is no part of it.

    Raises:
        UnusableFile: As `opened`; or it begins as a file that is no text.
    """
    with opened(path, longest_line=None) as file:
        _check_text(path, file.peek(_LOOKED_AT))
        return file.read().decode("utf-8")


def read_text_lines(path: Path) -> Iterator[str]:
    """The lines of a file as `read_text` reads it, in memory of one line. Only a line feed ends a line.

    Raises:
        UnusableFile: As `read_text`, or a line is too long.
    """
    with opened(path) as lines:
        _check_text(path, lines.peek(_LOOKED_AT))
        for line in lines:
            yield line.decode("utf-8")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a text that are not blank, with their numbers from 1; plain or gzipped.

    Raises:
        UnusableFile: As `opened_text`.
    """
    with opened_text(path) as text:
        for number, line in enumerate(text, start=1):
            if line.strip():
                yield number, line


def _check_text(path: Path, content: bytes) -> None:
    """Check that a file does not begin as one that is no text.

    Raises:
        UnusableFile: It does; says what it is.
    """
    if content.startswith(_PARQUET):
        raise UnusableFile(f"{path}: is Parquet; expected text, plain or compressed")
