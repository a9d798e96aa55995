"""What was seen can be read again, by us and by any WARC tool."""

import gzip
import json
import threading
import tracemalloc
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from warcio.archiveiterator import ArchiveIterator

from services.cli.main import main
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.scraper import open_service
from services.scraper import archive_reader
from services.scraper.archive import PageArchive
from services.scraper.archive_reader import ArchiveReader, UnusableArchive
from services.scraper.canonical import canonicalize
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import PageOutcome, Quality
from services.scraper.replay import Replayer
from services.scraper.response import RawResponse
from services.scraper.settings import ScraperSettings
from services.store.content.fetched_pages import FetchedPages
from services.store.database import Database
from tests.databases import copy_of

Settings = Callable[..., ScraperSettings]


async def replayed(folder: Path, settings: ScraperSettings, url: str) -> PageOutcome:
    async with Replayer(ArchiveReader(folder), settings) as replayer:
        return await replayer.fetch(url, "oolong")


def archived(folder: Path, url: str) -> RawResponse:
    archive = ArchiveReader(folder)
    visit = archive.visit(str(canonicalize(url)))
    assert visit is not None
    response = archive.response_for(visit)
    assert response is not None
    return response


async def test_an_archived_page_is_replayed_as_it_was_seen(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    cited = site.put("/old", status="301 Moved", Location="/new")
    wire = gzip.compress(article("Owls then"))
    site.put("/new", wire, Content_Encoding="gzip")
    async with PageFetcher(settings(archive_dir=tmp_path / "warc")) as fetcher:
        seen = await fetcher.fetch(cited)
    site.put("/new", article("Owls now"))
    asked = site.asked.copy()
    again = await replayed(tmp_path / "warc", settings(), cited + "?utm_source=x")
    assert replace(again, url=cited) == seen
    assert seen.text
    assert site.asked == asked, "nothing is fetched"
    raw = archived(tmp_path / "warc", cited)
    assert (raw.wire_body, raw.body) == (wire, article("Owls then"))


async def test_what_could_not_be_fetched_is_replayed_with_its_reason(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    site.put("/robots.txt", b"User-agent: *\nDisallow: /private", kind="text/plain")
    good, missing, loop = site.put("/a", article()), site.url("/missing"), site.url("/loop")
    site.put("/loop", status="302 Found", Location="/loop")
    urls = [site.url("/private"), good, missing, loop, "http://127.0.0.1:1/", "nonsense"]
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        seen = [await fetcher.fetch(url) for url in urls]
    assert {page.quality for page in seen} == {
        Quality.ROBOTS_DENIED, Quality.OK, Quality.NOT_FOUND, Quality.TOO_MANY_REDIRECTS,
        Quality.BLOCKED, Quality.INVALID_URL,
    }  # fmt: skip
    site.scripts.clear()
    again = [await replayed(tmp_path, settings(), url) for url in urls]
    assert again[:5] == seen[:5]
    assert (again[5].quality, again[5].detail) == (seen[5].quality, seen[5].detail)
    never = await replayed(tmp_path, settings(), site.url("/never"))
    assert (never.quality, never.detail) == (Quality.UNREACHABLE, "not in the archive that is replayed")


async def test_the_latest_of_several_visits_counts(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    url = site.put("/a", article("First"))
    for title in ("First", "Second"):
        site.put("/a", article(title))
        async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
            assert (await fetcher.fetch(url)).title == title
    assert (await replayed(tmp_path, settings(), url)).title == "Second"


async def test_a_page_that_had_not_changed_is_replayed_from_its_earlier_response(
    site: Any, settings: Settings, article: Any, tmp_path: Path, migrated_sqlite: Path
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    archive = settings(archive_dir=tmp_path / "warc", cache_seconds=0.001)
    url = site.put("/a", article("Owls"), ETag='"v1"')
    async with PageFetcher(archive, store=FetchedPages(database)) as fetcher:
        first = await fetcher.fetch(url, "oolong")
    site.put("/a", status="304 Not Modified", kind="")
    async with PageFetcher(archive, store=FetchedPages(database)) as fetcher:
        second = await fetcher.fetch(url, "oolong")
    await database.close()
    assert (second.text, site.asked["/a"]) == (first.text, 2)
    again = await replayed(tmp_path / "warc", settings(), url)
    assert (again.text, again.fetched_at) == (first.text, second.fetched_at)


async def test_the_stage_reads_an_archive_beside_the_event_loop(
    site: Any, settings: Settings, article: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, threads = site.put("/a", article("Owls")), []
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        await fetcher.fetch(url)

    def noted(folder: Path) -> list[Any]:
        threads.append(threading.current_thread())
        return list(entries(folder))

    entries = archive_reader.entries
    monkeypatch.setattr(archive_reader, "entries", noted)
    parts: Any = SimpleNamespace(fetch=FetchSettings(), replayed=tmp_path, blobs=None)
    async with open_service(parts):
        assert len(threads) == 1
    assert threads[0] is not threading.main_thread()


async def test_files_rotate_and_are_plain_warc(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    urls = [site.put(f"/{number}", article(f"Page {number}")) for number in range(4)]
    site.put("/missing", b"gone", "404 Not Found")
    async with PageFetcher(settings(archive_dir=tmp_path, archive_file_bytes=1)) as fetcher:
        for url in [*urls, site.url("/missing")]:
            await fetcher.fetch(url)
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert len(files) == 10, "a response and a visit of each page"
    seen = {}
    for file in files:
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    body = record.content_stream().read()
                    seen[record.rec_headers.get_header("WARC-Target-URI")] = body
    assert seen == {url: article(f"Page {number}") for number, url in enumerate(urls)} | {
        site.url("/missing"): b"gone"
    }


async def test_a_line_cut_off_by_a_crash_does_not_hide_the_others(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    url = site.put("/a", article())
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        await fetcher.fetch(url)
    (index,) = tmp_path.glob("*.index.jsonl")
    index.write_text(index.read_text() + '{"url": "http')
    assert (await replayed(tmp_path, settings(), url)).quality is Quality.OK


async def test_an_archive_that_cannot_be_written_costs_no_page(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    occupied = tmp_path / "file"
    occupied.write_text("not a folder")
    async with PageFetcher(settings(archive_dir=occupied)) as fetcher:
        assert (await fetcher.fetch(site.put("/a", article()))).quality is Quality.OK


async def test_a_chunked_response_is_archived_without_its_transfer_coding(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    body = article()

    async def chunked(writer: Any) -> None:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
        writer.write(head + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))

    url = site.script("/c", chunked)
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        assert (await fetcher.fetch(url)).quality is Quality.OK
    raw = archived(tmp_path, url)
    assert (raw.body, raw.header("transfer-encoding")) == (body, None)
    archive = PageArchive(tmp_path, 10_000)
    await archive.append(replace(raw, reason=""))
    await archive.close()


async def test_a_replay_gives_the_same_whenever_it_runs(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    urls = [site.put("/a", article()), site.url("/missing"), "https://never.example/", "ftp://no.example/"]
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        fetched = [await fetcher.fetch(url) for url in urls[:2]]
    first = [await replayed(tmp_path, settings(), url) for url in urls]
    assert [page.quality.value for page in first] == ["ok", "not_found", "unreachable", "invalid_url"]
    [dated] = {page.fetched_at for page in first[2:]}
    assert (
        fetched[-1].fetched_at <= dated <= fetched[-1].fetched_at + timedelta(seconds=fetched[-1].elapsed_s)
    )
    assert [await replayed(tmp_path, settings(), url) for url in urls] == first


def archive_command(*arguments: str) -> tuple[int, list[str]]:
    result = CliRunner().invoke(main, ["archive", *arguments])
    return result.exit_code, result.output.splitlines()


async def test_an_archive_is_listed_and_verified(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    url, missing = site.put("/a", article()), site.url("/missing")
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        await fetcher.fetch(url)
        await fetcher.fetch(missing)
    status, lines = archive_command("list", str(tmp_path))
    assert status == 0
    assert [line.split()[1:] for line in lines] == [
        ["response", "200", str(len(article())), url],
        ["visit", "ok", url],
        ["response", "404", "0", missing],
        ["visit", "not_found", missing],
    ]
    _, lines = archive_command("list", "--json", str(tmp_path))
    assert [(row["url"], row["kind"], row["problem"]) for row in map(json.loads, lines)] == [
        (url, "response", None), (url, "visit", None), (missing, "response", None), (missing, "visit", None),
    ]  # fmt: skip
    assert archive_command("verify", str(tmp_path)) == (0, ["1 files, 0 problems"])


async def test_damage_is_found(site: Any, settings: Settings, article: Any, tmp_path: Path) -> None:
    url = site.put("/a", article())
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        await fetcher.fetch(url)
    (warc,), (index,) = tmp_path.glob("*.warc.gz"), tmp_path.glob("*.index.jsonl")
    whole, lines = warc.read_bytes(), index.read_text()

    def problems() -> str:
        status, output = archive_command("verify", str(tmp_path))
        assert status == 1
        return "\n".join(output)

    warc.write_bytes(gzip.compress(gzip.decompress(whole).replace(b"Observation 7", b"Observation 8")))
    assert "damaged" in problems() or "payload digest failed" in problems()
    warc.write_bytes(whole[:-200])
    assert "damaged" in problems() or "no such record" in problems()
    assert (await replayed(tmp_path, settings(), url)).quality is Quality.UNREACHABLE
    warc.write_bytes(whole)
    index.write_text(lines.splitlines()[1] + "\n")
    assert f"{url} at " in problems()
    assert "not in the index" in problems()
    index.write_text(lines.replace("/a", "/b"))
    assert f"this is a record of {url}" in problems()
    page = await replayed(tmp_path, settings(), site.url("/b"))
    assert (page.quality, page.text) == (Quality.UNREACHABLE, None)
    assert "no record of" in page.detail
    warc.unlink()
    assert "no such record" in problems()
    index.unlink()
    status, output = archive_command("verify", str(tmp_path))
    assert (status, output) == (1, [f"Error: {tmp_path} contains no archive"])


@pytest.mark.parametrize(
    ("written", "damaged", "whole"),
    [
        (b"WARC-Target-URI:", b"WARC-Nothing-It:", 1),
        (b'"quality": "ok"', b'"quality": null', 2),
        (b'"outcome": {', b'"outcome": [', 2),
        (b'{"outcome": ', b'"a text"#   ', 2),
    ],
)
async def test_the_list_of_a_damaged_archive_ends_with_a_sentence(
    site: Any, settings: Settings, article: Any, tmp_path: Path, written: bytes, damaged: bytes, whole: int
) -> None:
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        await fetcher.fetch(site.put("/a", article()))
    (warc,) = tmp_path.glob("*.warc.gz")
    members, rest = [], warc.read_bytes()
    while rest:
        member = zlib.decompressobj(zlib.MAX_WBITS | 16)
        members.append(member.decompress(rest))
        rest = member.unused_data
    assert written in b"".join(members)
    warc.write_bytes(b"".join(gzip.compress(member.replace(written, damaged)) for member in members))
    problem = f"{warc.name}: damaged: after {whole} records, none can be read"
    status, lines = archive_command("list", str(tmp_path))
    assert (status, lines[-1]) == (1, f"Error: {problem}")
    assert problem in archive_command("verify", str(tmp_path))[1]


def test_a_folder_without_an_archive_is_not_replayed(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(UnusableArchive):
            ArchiveReader(folder)


def test_indexes_are_read_line_by_line_and_a_response_takes_few_bytes(tmp_path: Path) -> None:
    lines = 20_000
    for part in range(4):  # a file of one scraper each, whose times overlap
        with (tmp_path / f"pages-{part}.index.jsonl").open("w", encoding="utf-8") as file:
            for number in range(lines // 4):
                url = f"https://example.org/{'x' * 100}/{number % 50}"
                at = f"2026-05-04T{number * 7 % 24:02}:{number % 60:02}:00.{part:06}Z"
                file.write(json.dumps({"url": url, "date": at, "offset": number}) + "\n")
        if part == 3:
            with (tmp_path / f"pages-{part}.index.jsonl").open("a", encoding="utf-8") as file:
                file.write('{"url": "https://exam')  # the last line of a process that was killed
    tracemalloc.start()
    archive = ArchiveReader(tmp_path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak / lines < 250
    assert archive.ended_at == max(
        datetime.fromisoformat(entry.date) for entry in archive_reader.entries(tmp_path)
    )
