"""The page archive: raw responses in WARC files, so that battles can be evaluated again on the same evidence.

Each process writes its own files. An index beside each file has one line per record with its position:

    pages-TIME-HOST-PROCESS-RANDOM.warc.gz        gzip per record, readable by any WARC tool
    pages-TIME-HOST-PROCESS-RANDOM.index.jsonl    {"url", "date", "offset"} of a response,
                                                  {"visit", "date", "offset"} of a visit

A visit is a record of type "metadata": what became of a page, also where there is no response, such as after
a timeout. Answers that a page has not changed are visits without a response of their own: such a visit is
replayed from the response that was archived before.
"""

import asyncio
import io
import json
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from services.scraper.outcome import ArchivedAt, PageOutcome
from services.scraper.response import RawResponse
from services.scraper.stored_outcome import as_json

INDEX_SUFFIX = ".index.jsonl"
WARC_SUFFIX = ".warc.gz"
# The stored body has no transfer coding, so readers must not find the header.
_RENAMED = {"transfer-encoding": "X-Archive-Orig-Transfer-Encoding"}


@dataclass(frozen=True, slots=True)
class ArchivedVisit:
    """What became of a page when it was visited.

    Attributes:
        outcome: The outcome. Its text is not archived, because it is extracted from the response again.
        read: Whether the outcome is that of a response; otherwise there was none to read.
    """

    outcome: PageOutcome
    read: bool


@dataclass(slots=True)
class _OpenFile:
    warc: BinaryIO
    index: TextIO
    writer: WARCWriter


class PageArchive:
    """Appends responses and visits to a WARC file and starts a new file when it has grown large.

    Args:
        folder: Folder for the files; created if missing.
        max_file_bytes: Size in bytes above which a new file is started.
    """

    def __init__(self, folder: Path, max_file_bytes: int) -> None:
        self._folder = folder
        self._max = max_file_bytes
        self._lock = asyncio.Lock()
        self._file: _OpenFile | None = None

    async def append(self, response: RawResponse) -> ArchivedAt:
        """Write one response in a thread.

        Returns:
            Where it is.

        Raises:
            OSError: The disk is full or the folder is not writable.
        """
        entry = {"url": str(response.url), "date": warc_date(response.received_at)}
        async with self._lock:
            return await asyncio.to_thread(self._append, lambda writer: _record(writer, response), entry)

    async def append_visit(self, visit: ArchivedVisit) -> None:
        """Write what became of a page in a thread.

        Raises:
            OSError: As for `append`.
        """
        entry = {"visit": visit.outcome.url, "date": warc_date(visit.outcome.fetched_at)}
        async with self._lock:
            await asyncio.to_thread(self._append, lambda writer: _visit_record(writer, visit), entry)

    async def close(self) -> None:
        """Close the current file. The archive can be appended to again afterwards."""
        async with self._lock:
            await asyncio.to_thread(self._close)

    def _append(self, record: Callable[[WARCWriter], Any], entry: dict[str, str]) -> ArchivedAt:
        file = self._file or self._open()
        offset = file.warc.tell()
        file.writer.write_record(record(file.writer))
        file.warc.flush()  # before the index, which names only what can be read
        file.index.write(json.dumps(entry | {"offset": offset}) + "\n")
        file.index.flush()
        if file.warc.tell() >= self._max:
            self._close()
        return ArchivedAt(Path(file.warc.name).name, offset)

    def _open(self) -> _OpenFile:
        self._folder.mkdir(parents=True, exist_ok=True)
        host = socket.gethostname().split(".")[0]
        stem = f"pages-{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{host}-{os.getpid()}-{secrets.token_hex(4)}"
        warc = (self._folder / (stem + WARC_SUFFIX)).open("xb")
        index = (self._folder / (stem + INDEX_SUFFIX)).open("x", encoding="utf-8")
        writer = WARCWriter(warc, gzip=True)
        about = {"software": "nuggetstream", "format": "WARC File Format 1.0"}
        writer.write_record(writer.create_warcinfo_record(stem + WARC_SUFFIX, about))
        self._file = _OpenFile(warc, index, writer)
        return self._file

    def _close(self) -> None:
        if self._file is not None:
            self._file.warc.close()
            self._file.index.close()
            self._file = None


def _record(writer: WARCWriter, response: RawResponse) -> object:
    headers = [(_RENAMED.get(name.lower(), name), value) for name, value in response.headers]
    status = f"{response.status} {response.reason}".rstrip()
    return writer.create_warc_record(
        str(response.url),
        "response",
        payload=io.BytesIO(response.wire_body),
        length=len(response.wire_body),
        http_headers=StatusAndHeaders(status, headers, protocol="HTTP/1.1"),
        warc_headers_dict={"WARC-Date": warc_date(response.received_at)},
    )


def _visit_record(writer: WARCWriter, visit: ArchivedVisit) -> object:
    content = {"outcome": as_json(visit.outcome), "read": visit.read}
    body = json.dumps(content).encode("ascii")
    return writer.create_warc_record(
        visit.outcome.url,
        "metadata",
        payload=io.BytesIO(body),
        length=len(body),
        warc_content_type="application/json",
        warc_headers_dict={"WARC-Date": warc_date(visit.outcome.fetched_at)},
    )


def warc_date(moment: datetime) -> str:
    """A time as WARC records and indexes have it; later ones sort after earlier ones."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
