"""Where `nuggetstream export-days` puts the tables of a day: a folder, or a bucket of an object store.

Both say whether a day is there in full, so that a run which was stopped is continued by the next one.
"""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.files.frames import is_sent, send_parquet

_LAST = "battles.parquet"  # written last to a bucket, where no folder can be renamed


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of days."""

    root: Path

    def has(self, name: str) -> bool:
        """Whether a day was written."""
        return (self.root / name).exists()

    @contextmanager
    def part(self, name: str) -> Iterator[Path]:
        """An empty folder for the tables of a day, which is gone afterwards."""
        part = self.root / f".{name}"
        shutil.rmtree(part, ignore_errors=True)  # of a run that was stopped
        part.mkdir(parents=True)
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)

    def keep(self, part: Path, name: str) -> None:
        """Let the tables be those of a day."""
        part.rename(self.root / name)


@dataclass(frozen=True, slots=True)
class Bucket:
    """A prefix in a bucket, as in s3://bucket/prefix.

    Every method may raise UnusableFile: the store does not answer or rejects the credentials.
    """

    root: str

    def has(self, name: str) -> bool:
        """Whether a day was written in full."""
        return is_sent(f"{self.root}/{name}/{_LAST}")

    @contextmanager
    def part(self, name: str) -> Iterator[Path]:
        """An empty folder for the tables of a day, which is gone afterwards."""
        with tempfile.TemporaryDirectory(prefix=name) as part:
            yield Path(part)

    def keep(self, part: Path, name: str) -> None:
        """Send the tables of a day."""
        for path in sorted(part.iterdir(), key=lambda path: path.name == _LAST):
            send_parquet(path, f"{self.root}/{name}/{path.name}")
