"""Read a page archive: the responses and visits that the indexes beside its WARC files name."""

import json
import sys
import zlib
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from services.scraper.archive import INDEX_SUFFIX, WARC_SUFFIX, ArchivedVisit, warc_date
from services.scraper.canonical import WebUrl, canonicalize
from services.scraper.content_coding import BodyTooLarge, UndecodableBody, decoder_for
from services.scraper.outcome import ArchivedAt, PageOutcome, Validators
from services.scraper.response import RawResponse
from services.scraper.stored_outcome import outcome_of

DAMAGED = (ArchiveLoadFailed, EOFError, ValueError, LookupError, AttributeError, TypeError, zlib.error)
"""What reading a damaged record raises."""

_MAX_DECODED = 64 * 1024 * 1024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_date = attrgetter("date")


class UnusableArchive(Exception):
    """The folder is not a page archive, or a record of it cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an archived record is.

    Attributes:
        url: URL of the response or visit.
        date: When the response was received or the visit began, in ISO 8601; later dates sort after earlier
            ones.
        path: WARC file.
        offset: Offset of the record in that file, in bytes.
        is_visit: Whether it is the record of a visit, not of a response.
    """

    url: str
    date: str
    path: Path
    offset: int
    is_visit: bool


class ArchiveReader:
    """The responses and visits of an archive. The constructor and every method block on disk.

    Args:
        folder: Folder of a `PageArchive`; also several of them, copied into one.

    Attributes:
        ended_at: Date of the last record; the beginning of 1970 where there is none.

    Raises:
        UnusableArchive: There is no such folder, or it has no archive.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UnusableArchive(f"{folder} is not a folder")
        if next(folder.glob("*" + INDEX_SUFFIX), None) is None:
            raise UnusableArchive(f"{folder} contains no archive (no file *{INDEX_SUFFIX})")
        self._responses: dict[str, list[Entry]] = {}
        self._visits: dict[str, Entry] = {}
        last = ""
        for entry in entries(folder):
            last = max(last, entry.date)
            if not entry.is_visit:
                self._responses.setdefault(entry.url, []).append(entry)
            elif entry.url not in self._visits or self._visits[entry.url].date <= entry.date:
                self._visits[entry.url] = entry
        for responses in self._responses.values():
            responses.sort(key=_date)
        self.ended_at = datetime.fromisoformat(last) if last else _EPOCH

    def visit(self, url: str) -> ArchivedVisit | None:
        """The latest visit to a canonical URL; None when there was none.

        Raises:
            UnusableArchive: The record cannot be read.
        """
        entry = self._visits.get(url)
        return None if entry is None else visit_at(entry)

    def entry_for(self, visit: ArchivedVisit) -> Entry | None:
        """Where the response is that a visit is replayed from.

        That is the response that the visit names or, where it names none of this archive, the latest of its
        last URL, of those until its end if there is one.

        Args:
            visit: A visit that read a response.
        """
        outcome = visit.outcome
        url = str(canonicalize(outcome.final_url, keep_tracking=True))
        responses = self._responses.get(url)
        if not responses:
            return None
        for entry in responses:
            if outcome.archived == ArchivedAt(entry.path.name, entry.offset):
                return entry
        ended_at = warc_date(outcome.fetched_at + timedelta(seconds=outcome.elapsed_s))
        return responses[bisect_right(responses, ended_at, key=_date) - 1]  # with none until then, the last

    def response_for(self, visit: ArchivedVisit) -> RawResponse | None:
        """The response that a visit is replayed from; None when there is none.

        Args:
            visit: A visit that read a response.

        Raises:
            UnusableArchive: The record cannot be read.
        """
        entry = self.entry_for(visit)
        return None if entry is None else _response(entry, canonicalize(entry.url, keep_tracking=True))


def entries(folder: Path) -> Iterator[Entry]:
    """Every record that an index of the folder names, file by file."""
    for index in sorted(folder.glob("*" + INDEX_SUFFIX)):
        path = warc_of(index)
        with index.open("rb") as lines:
            for line in lines:
                entry = entry_of(line, path)
                if entry is not None:
                    yield entry


def entry_of(line: str | bytes, path: Path) -> Entry | None:
    """The entry in a line of an index; None for the last line of a process that was killed while writing it.

    Args:
        line: The line.
        path: WARC file of the index.
    """
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    url = sys.intern(entry.get("visit") or entry["url"])  # archives have millions of entries
    return Entry(url, entry["date"], path, entry["offset"], is_visit="visit" in entry)


def visit_at(entry: Entry) -> ArchivedVisit:
    """The visit of an entry.

    Raises:
        UnusableArchive: The record cannot be read.
    """
    with _record_at(entry) as record:
        content = json.loads(record.content_stream().read())
        fetched_at = datetime.fromisoformat(entry.date)
        return ArchivedVisit(outcome_of(content["outcome"], entry.url, None, fetched_at), content["read"])


def version_at(entry: Entry) -> Validators | None:
    """The version that the response of an entry has by its headers; None where it is no success.

    Raises:
        UnusableArchive: The record cannot be read.
    """
    with _record_at(entry) as record:
        http = record.http_headers
        if not http.get_statuscode().startswith("2"):
            return None
        return Validators(entry.url, http.get_header("etag"), http.get_header("last-modified"))


def has_version(folder: Path, outcome: PageOutcome) -> bool:
    """Whether an archive has the version of a page that is known, so that a visit which finds it unchanged
    can be replayed; False where the record cannot be read.

    Args:
        folder: Folder of the archive, to which other processes may write, too; it may be missing.
        outcome: The last outcome of the page.
    """
    at, version = outcome.archived, outcome.validators
    if at is None or version is None:
        return False
    entry = Entry(url=version.url, date="", path=folder / at.file, offset=at.offset, is_visit=False)
    try:
        return version_at(entry) == version
    except UnusableArchive:
        return False


def warc_of(index: Path) -> Path:
    """The WARC file of an index."""
    return index.with_name(index.name.removesuffix(INDEX_SUFFIX) + WARC_SUFFIX)


@contextmanager
def _record_at(entry: Entry) -> Iterator[Any]:
    try:
        with entry.path.open("rb") as file:
            file.seek(entry.offset)
            record = next(iter(ArchiveIterator(file)), None)
            if record is None or record.rec_headers.get_header("WARC-Target-URI") != entry.url:
                raise UnusableArchive(f"{entry.path}: no record of {entry.url} at {entry.offset}")
            yield record
    except (OSError, *DAMAGED) as error:
        raise UnusableArchive(f"{entry.path} cannot be read: {error}") from error


def _response(entry: Entry, url: WebUrl) -> RawResponse:
    with _record_at(entry) as record:
        http = record.http_headers
        headers = tuple((str(name), str(value)) for name, value in http.headers)
        wire = record.raw_stream.read()
    status, _, reason = http.statusline.partition(" ")
    coding = next((value for name, value in headers if name.lower() == "content-encoding"), "")
    return RawResponse(
        url=url,
        status=int(status),
        reason=reason,
        headers=headers,
        wire_body=wire,
        body=_decoded(wire, coding),
        received_at=datetime.fromisoformat(entry.date),
    )


def _decoded(wire: bytes, coding: str) -> bytes:
    decoder = decoder_for("", _MAX_DECODED)
    with suppress(BodyTooLarge, UndecodableBody):  # the scraper's own limits are lower
        decoder = decoder_for(coding, _MAX_DECODED)
        decoder.feed(wire)
    return decoder.decoded  # what was decoded until then
