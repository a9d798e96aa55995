"""Which version of each page an archive has, so that a server is asked only about one that can be replayed.

Asked whether a page has changed, a server that says no sends no body. The visit is then replayed from the
response that was archived before, so there has to be one, of the version that the request named.
"""

import asyncio
from pathlib import Path

from services.scraper.archive import INDEX_SUFFIX
from services.scraper.archive_reader import Entry, UnusableArchive, entry_of, version_at, warc_of
from services.scraper.outcome import Validators


class ArchivedVersions:
    """The latest responses in a folder of page archives, those that other processes add included.

    Args:
        folder: Folder of the archives; it may be missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = asyncio.Lock()
        self._latest: dict[str, Entry] = {}  # by URL
        self._read: dict[Path, int] = {}  # bytes of each index

    async def has(self, version: Validators) -> bool:
        """Whether the latest archived response of a URL is a version; False if the archive cannot be read."""
        async with self._lock:
            return await asyncio.to_thread(self._has, version)

    def _has(self, version: Validators) -> bool:
        try:
            for index in sorted(self._folder.glob("*" + INDEX_SUFFIX)):
                self._read_on(index)
            entry = self._latest.get(version.url)
            return entry is not None and version_at(entry) == version
        except (OSError, UnusableArchive):
            return False

    def _read_on(self, index: Path) -> None:
        """Read the lines that were added to an index."""
        position = self._read.get(index, 0)
        if index.stat().st_size <= position:
            return
        with index.open("rb") as file:
            file.seek(position)
            added = file.read()
        whole = added[: added.rfind(b"\n") + 1]  # the last line may be in the course of being written
        self._read[index] = position + len(whole)
        for line in whole.splitlines():
            entry = entry_of(line, warc_of(index))
            if entry is None or entry.is_visit:
                continue
            known = self._latest.get(entry.url)
            if known is None or known.date <= entry.date:
                self._latest[entry.url] = entry
