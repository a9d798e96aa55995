"""Records of uploaded batches on disk, by which a later process finds them again.

A record has hashes of requests and no text. It is written before the upload, and the batch carries its name,
so a process that is killed at any moment leaves no batch that the next one does not find.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from uuid import uuid4


@dataclass(slots=True)
class Record:
    """One batch.

    Attributes:
        endpoint: URL of the endpoint, without secrets.
        model: The model that is asked.
        requests: Names of the requests, in the order of the file.
        batch: The endpoint's id of the batch; None while it is not known to exist.
        name: A name of its own, which the batch carries as metadata.
        created: Unix time.
    """

    endpoint: str
    model: str
    requests: Sequence[str]
    batch: str | None = None
    name: str = field(default_factory=lambda: uuid4().hex)
    created: float = field(default_factory=time.time)


class Records:
    """The records in one folder.

    Args:
        folder: The folder, which is created with the first record.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self) -> list[Record]:
        """All records, the oldest first."""
        records = [Record(**json.loads(path.read_bytes())) for path in self._folder.glob("*.json")]
        return sorted(records, key=lambda record: record.created)

    def save(self, record: Record) -> None:
        """Write a record to disk, so that a crash leaves the old one or the new one."""
        self._folder.mkdir(parents=True, exist_ok=True)
        part = self._folder / f"{record.name}.part"
        with part.open("w", encoding="utf-8") as file:
            json.dump(asdict(record), file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(self._folder / f"{record.name}.json")

    def remove(self, record: Record) -> None:
        """Delete a record."""
        (self._folder / f"{record.name}.json").unlink(missing_ok=True)
