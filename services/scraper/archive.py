"""The page archive: raw responses in WARC files, so that a battle can be re-evaluated on the same evidence.

Each process writes its own files. An index beside each file has one line per response with its position:

    pages-TIME-HOST-PROCESS-RANDOM.warc.gz        gzip per record, readable by any WARC tool
    pages-TIME-HOST-PROCESS-RANDOM.index.jsonl    {"url", "date", "offset"}
"""

import asyncio
import io
import json
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, TextIO

from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from services.scraper.canonical import InvalidUrl, WebUrl, canonicalize
from services.scraper.content_coding import BodyTooLarge, UndecodableBody, decoder_for
from services.scraper.response import RawResponse

_INDEX_SUFFIX = ".index.jsonl"
_WARC_SUFFIX = ".warc.gz"
_MAX_HOPS = 10
_MAX_DECODED = 64 * 1024 * 1024
# The stored body has no transfer coding, so readers must not find the header.
_RENAMED = {"transfer-encoding": "X-Archive-Orig-Transfer-Encoding"}


@dataclass(slots=True)
class _OpenFile:
    warc: BinaryIO
    index: TextIO
    writer: WARCWriter


class PageArchive:
    """Appends responses to a WARC file and starts a new file when it has grown large.

    Args:
        folder: Folder for the files; created if missing.
        max_file_bytes: Size in bytes above which a new file is started.
    """

    def __init__(self, folder: Path, max_file_bytes: int) -> None:
        self._folder = folder
        self._max = max_file_bytes
        self._lock = asyncio.Lock()
        self._file: _OpenFile | None = None

    async def append(self, response: RawResponse) -> None:
        """Write one response in a thread.

        Raises:
            OSError: The disk is full or the folder is not writable.
        """
        async with self._lock:
            await asyncio.to_thread(self._append, response)

    async def close(self) -> None:
        """Close the current file. The archive can be appended to again afterwards."""
        async with self._lock:
            await asyncio.to_thread(self._close)

    def _append(self, response: RawResponse) -> None:
        file = self._file or self._open(response.received_at)
        offset = file.warc.tell()
        file.writer.write_record(_record(file.writer, response))
        entry = {"url": str(response.url), "date": _warc_date(response.received_at), "offset": offset}
        file.index.write(json.dumps(entry) + "\n")
        file.index.flush()
        if file.warc.tell() >= self._max:
            self._close()

    def _open(self, at: datetime) -> _OpenFile:
        self._folder.mkdir(parents=True, exist_ok=True)
        host = socket.gethostname().split(".")[0]
        stem = f"pages-{at.astimezone(UTC):%Y%m%dT%H%M%S%f}-{host}-{os.getpid()}-{secrets.token_hex(4)}"
        warc = (self._folder / (stem + _WARC_SUFFIX)).open("xb")
        index = (self._folder / (stem + _INDEX_SUFFIX)).open("x", encoding="utf-8")
        writer = WARCWriter(warc, gzip=True)
        about = {"software": "nuggetstream", "format": "WARC File Format 1.0"}
        writer.write_record(writer.create_warcinfo_record(stem + _WARC_SUFFIX, about))
        self._file = _OpenFile(warc, index, writer)
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            self._file.warc.close()
            self._file.index.close()
            self._file = None


def read_archived(folder: Path, url: str) -> RawResponse | None:
    """The latest archived response for a URL, with redirects followed within the archive. Blocks on disk.

    Args:
        folder: Folder of a `PageArchive`.
        url: URL as cited; it is looked up in canonical form.

    Returns:
        The response at the end of the redirects; None when it or a redirect to it is not archived.

    Raises:
        InvalidUrl: The URL is not a web address.
    """
    hop = canonicalize(url)
    for _ in range(_MAX_HOPS):
        response = _latest(folder, hop)
        if response is None or response.redirect is None:
            return response
        try:
            hop = hop.joined(response.redirect)
        except InvalidUrl:
            return None
    return None


@dataclass(frozen=True, slots=True)
class _Entry:
    """Where an archived response is.

    Attributes:
        url: URL of the response.
        date: When it was received, in ISO 8601; later dates sort after earlier ones.
        path: WARC file.
        offset: Offset of the record in that file, in bytes.
    """

    url: str
    date: str
    path: Path
    offset: int


def _latest(folder: Path, url: WebUrl) -> RawResponse | None:
    archived = [entry for entry in _entries(folder) if entry.url == str(url)]
    if not archived:
        return None
    latest = max(archived, key=lambda entry: entry.date)
    return _read(latest.path, latest.offset, url)


def _entries(folder: Path) -> Iterator[_Entry]:
    """Every archived response."""
    for index in sorted(folder.glob("*" + _INDEX_SUFFIX)):
        path = index.with_name(index.name.removesuffix(_INDEX_SUFFIX) + _WARC_SUFFIX)
        for line in index.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # the last line of a process that was killed while writing it
            yield _Entry(entry["url"], entry["date"], path, entry["offset"])


def _read(path: Path, offset: int, url: WebUrl) -> RawResponse | None:
    with path.open("rb") as file:
        file.seek(offset)
        record = next(iter(ArchiveIterator(file)), None)
        if record is None:
            return None
        http = record.http_headers
        headers = tuple((str(name), str(value)) for name, value in http.headers)
        wire = record.raw_stream.read()
    received_at = datetime.fromisoformat(record.rec_headers.get_header("WARC-Date"))
    status, _, reason = http.statusline.partition(" ")
    coding = next((value for name, value in headers if name.lower() == "content-encoding"), "")
    return RawResponse(
        url=url,
        status=int(status),
        reason=reason,
        headers=headers,
        wire_body=wire,
        body=_decoded(wire, coding),
        received_at=received_at,
    )


def _decoded(wire: bytes, coding: str) -> bytes:
    decoder = decoder_for("", _MAX_DECODED)
    try:
        decoder = decoder_for(coding, _MAX_DECODED)
        decoder.feed(wire)
    except (BodyTooLarge, UndecodableBody):
        return decoder.decoded  # what was decoded until then; the scraper's own limits are lower
    return decoder.decoded


def _record(writer: WARCWriter, response: RawResponse) -> object:
    headers = [(_RENAMED.get(name.lower(), name), value) for name, value in response.headers]
    status = f"{response.status} {response.reason}".rstrip()
    return writer.create_warc_record(
        str(response.url),
        "response",
        payload=io.BytesIO(response.wire_body),
        length=len(response.wire_body),
        http_headers=StatusAndHeaders(status, headers, protocol="HTTP/1.1"),
        warc_headers_dict={"WARC-Date": _warc_date(response.received_at)},
    )


def _warc_date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
