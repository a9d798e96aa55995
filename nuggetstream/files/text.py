"""The text of a file that somebody brings, plain or gzipped."""

import gzip
import zlib
from pathlib import Path

from nuggetstream.files.dataset import UnusableFile

_GZIP = b"\x1f\x8b"
# How files that are no text begin, and what people call them.
_OTHERS = {b"PAR1": "Parquet", b"PK\x03\x04": "a zip archive or a spreadsheet", b"\xfd7zXZ": "xz"}


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
    if found := next((name for start, name in _OTHERS.items() if plain.startswith(start)), None):
        raise UnusableFile(f"{path}: is {found}; expected text, plain or gzipped")
    try:
        return plain.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnusableFile(f"{path}: is not UTF-8 text: {error}") from error
