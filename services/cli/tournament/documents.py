"""The documents of a tournament: a JSONL file, or a folder of pages, which are read as the scraper does."""

import asyncio
import mimetypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nuggetstream.files.dataset import read_documents
from nuggetstream.files.opening import UnusableFile
from services.scraper.extraction import ExtractionFailed, ExtractionJob
from services.scraper.extraction_pool import ExtractionPool
from services.scraper.media_type import MediaKind, kind_of
from services.scraper.settings import ScraperSettings

_LINES = (".jsonl", ".jsonl.gz")
_TYPES = {".md": "text/markdown", ".txt": "text/plain"}


@dataclass(slots=True)
class Documents:
    """What was read.

    Attributes:
        texts: Text of each document by its id: that of a JSONL file, or the path of a page in the folder.
        unread: Why files of the folder were not read, by path.
    """

    texts: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)


async def read_collection(path: Path, settings: ScraperSettings) -> Documents:
    """The documents of a file or folder, in the order of their ids; hidden files are left out.

    Pages are read by processes with limits of time and memory, because documents may be hostile.

    Raises:
        UnusableFile: A line of a JSONL file cannot be used, or there is no document.
    """
    documents, pages = await asyncio.to_thread(_listed, path)
    if pages:
        async with ExtractionPool(settings) as pool:
            waiting = iter(pages)

            async def worker() -> None:
                for page in waiting:
                    await _read(page, path, pool, settings.max_decoded_bytes, documents)

            async with asyncio.TaskGroup() as group:
                for _ in range(settings.extraction_workers):
                    group.create_task(worker())
    empty = [name for name, text in documents.texts.items() if not text.strip()]
    documents.unread |= dict.fromkeys(empty, "has no text")
    documents.texts = {name: text for name, text in sorted(documents.texts.items()) if text.strip()}
    if not documents.texts:
        raise UnusableFile(f"{path}: holds no document with a text")
    return documents


def _listed(path: Path) -> tuple[Documents, Sequence[Path]]:
    """The documents of JSONL files, and the pages that are still to be read."""
    if path.is_file():
        return Documents(read_documents(path)), ()
    documents, pages = Documents(), []
    for file in sorted(path.rglob("*")):
        if not file.is_file() or any(part.startswith(".") for part in file.relative_to(path).parts):
            continue
        if not file.name.endswith(_LINES):
            pages.append(file)
            continue
        for name, text in read_documents(file).items():
            if documents.texts.setdefault(name, text) != text:
                raise UnusableFile(f"{file}: docid: {name!r} is in another file of the folder, too")
    return documents, pages


async def _read(file: Path, folder: Path, pool: ExtractionPool, most: int, documents: Documents) -> None:
    """Read a page into the documents, or note why it is not read."""
    name = file.relative_to(folder).as_posix()
    job = await asyncio.to_thread(_job_of, file, most)
    if isinstance(job, str):
        documents.unread[name] = job
        return
    try:
        documents.texts[name] = (await pool.extract(job)).text
    except ExtractionFailed as failure:
        documents.unread[name] = str(failure)


def _job_of(file: Path, most: int) -> ExtractionJob | str:
    """What is to be extracted, or why nothing is."""
    if file.stat().st_size > most:
        return f"has more than {most:,} bytes"
    body = file.read_bytes()
    content_type = _TYPES.get(file.suffix.lower()) or mimetypes.guess_type(file.name)[0]
    kind = kind_of(content_type, body)
    if not isinstance(kind, MediaKind):
        return f"is {kind}"
    url = file.absolute().as_uri()
    return ExtractionJob(kind=kind, url=url, content_type=content_type, content_language=None, body=body)
