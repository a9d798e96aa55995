"""List and verify a page archive. Everything here blocks on disk."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from services.scraper.archive import INDEX_SUFFIX, WARC_SUFFIX, ArchivedVisit
from services.scraper.archive_reader import (
    DAMAGED,
    ArchiveReader,
    Entry,
    UnusableArchive,
    entries,
    version_at,
    visit_at,
    warc_of,
)
from services.scraper.outcome import Quality

_LISTED = frozenset({"response", "metadata"})


@dataclass(frozen=True, slots=True)
class ArchivedRecord:
    """One record of an archive.

    Attributes:
        url: URL of the response, or of the visited page.
        date: When the response was received or the visit began, in ISO 8601.
        kind: "response" or "visit".
        result: HTTP status of a response, quality class of a visit.
        size: Bytes of the body as received; None for a visit.
        path: WARC file.
        offset: Offset of the record in that file, in bytes.
        problem: What is wrong with its digest; None where nothing is.
    """

    url: str
    date: str
    kind: str
    result: str
    size: int | None
    path: Path
    offset: int
    problem: str | None


def records(path: Path) -> Iterator[ArchivedRecord]:
    """The responses and visits of a WARC file, each read to its end and compared with its digests.

    Raises:
        UnusableArchive: The file ends within a record, or is not a WARC file.
    """
    whole = 0
    try:
        with path.open("rb") as file:
            reader = ArchiveIterator(file, check_digests=True)
            for record in reader:
                if record.rec_type not in _LISTED:
                    whole += 1
                    continue
                body = record.raw_stream.read()
                is_visit = record.rec_type == "metadata"
                result = (
                    Quality(json.loads(body)["outcome"]["quality"]).value
                    if is_visit
                    else record.http_headers.get_statuscode()
                )
                yield ArchivedRecord(
                    url=record.rec_headers.get_header("WARC-Target-URI"),
                    date=record.rec_headers.get_header("WARC-Date"),
                    kind="visit" if is_visit else "response",
                    result=result,
                    size=None if is_visit else len(body),
                    path=path,
                    offset=reader.get_record_offset(),
                    problem="; ".join(record.digest_checker.problems) or None,
                )
                whole += 1
    except OSError as error:
        raise UnusableArchive(f"cannot be read: {error.strerror}") from error
    except DAMAGED as error:
        raise UnusableArchive(f"damaged: after {whole} records, none can be read") from error


def files_of(folder: Path) -> list[Path]:
    """The WARC files of an archive, those also that only an index names.

    Raises:
        UnusableArchive: There is no archive in the folder.
    """
    indexes = folder.glob("*" + INDEX_SUFFIX)
    files = {*folder.glob("*" + WARC_SUFFIX), *(warc_of(index) for index in indexes)}
    if not files:
        raise UnusableArchive(f"{folder} contains no archive")
    return sorted(files)


def problems(folder: Path) -> Iterator[tuple[Path, str]]:
    """Everything that is wrong with an archive, by file.

    That is damaged records, indexes that do not match, and visits that cannot be replayed.

    Raises:
        UnusableArchive: There is no archive in the folder.
    """
    indexed: dict[Path, list[Entry]] = {}
    for entry in entries(folder):
        indexed.setdefault(entry.path, []).append(entry)
    for path in files_of(folder):
        yield from ((path, problem) for problem in _problems_of(path, indexed.get(path, [])))
    if indexed:
        yield from _unreplayable(ArchiveReader(folder), [e for of_file in indexed.values() for e in of_file])


def _unreplayable(archive: ArchiveReader, indexed: list[Entry]) -> Iterator[tuple[Path, str]]:
    for entry in indexed:
        if not entry.is_visit:
            continue
        try:
            problem = _problem_of_visit(archive, visit_at(entry))
        except UnusableArchive:
            continue  # a damaged record is a problem by itself
        if problem is not None:
            yield entry.path, f"{entry.url} at {entry.offset}: {problem}"


def _problem_of_visit(archive: ArchiveReader, visit: ArchivedVisit) -> str | None:
    """Why a visit cannot be replayed as it was; None where it can.

    Raises:
        UnusableArchive: The record of its response cannot be read.
    """
    if not visit.read:
        return None
    response, version = archive.entry_for(visit), visit.outcome.validators
    if response is None:
        return "a visit without a response that it could be replayed from"
    if version is not None and version_at(response) != version:
        return f"a visit whose response is of another version ({response.path.name} at {response.offset})"
    return None


def _problems_of(path: Path, indexed: list[Entry]) -> Iterator[str]:
    urls: dict[int, str] = {}
    try:
        for record in records(path):
            urls[record.offset] = record.url
            if record.problem is not None:
                yield f"{record.url} at {record.offset}: {record.problem}"
    except UnusableArchive as error:
        yield str(error)
    named = {entry.offset: entry.url for entry in indexed}
    for offset in sorted(urls.keys() | named.keys()):
        if offset not in named:
            yield f"{urls[offset]} at {offset}: not in the index"
        elif offset not in urls:
            yield f"{named[offset]} at {offset}: in the index, and no such record"
        elif urls[offset] != named[offset]:
            yield f"{named[offset]} at {offset}: this is a record of {urls[offset]}"
