"""What was seen can be read again, by us and by any WARC tool."""

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from services.scraper.archive import PageArchive, read_archived
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import Quality
from services.scraper.settings import ScraperSettings

Settings = Callable[..., ScraperSettings]


async def test_an_archived_page_is_read_again_as_it_was_seen(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    cited = site.put("/old", status="301 Moved", Location="/new")
    wire = gzip.compress(article("Owls then"))
    site.put("/new", wire, Content_Encoding="gzip")
    async with PageFetcher(settings(archive_dir=tmp_path / "warc")) as fetcher:
        seen = await fetcher.fetch(cited)
        site.put("/new", article("Owls now"))
        again = await fetcher.replay(cited + "?utm_source=x")
        assert again is not None
        assert await fetcher.replay(site.url("/never")) is None
    assert (seen.quality, again.quality) == (Quality.OK, Quality.OK)
    assert (again.title, again.text, again.final_url) == (seen.title, seen.text, seen.final_url)
    assert (again.wire_bytes, again.decoded_bytes) == (seen.wire_bytes, seen.decoded_bytes)
    raw = read_archived(tmp_path / "warc", cited)
    assert raw is not None
    assert (raw.wire_body, raw.body) == (wire, article("Owls then"))


async def test_the_latest_of_several_visits_counts(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    url = site.put("/a", article("First"))
    for title in ("First", "Second"):
        site.put("/a", article(title))
        async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
            assert (await fetcher.fetch(url)).title == title
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        again = await fetcher.replay(url)
    assert again is not None
    assert again.title == "Second"


async def test_files_rotate_and_are_plain_warc(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    urls = [site.put(f"/{number}", article(f"Page {number}")) for number in range(4)]
    site.put("/missing", b"gone", "404 Not Found")
    async with PageFetcher(settings(archive_dir=tmp_path, archive_file_bytes=1)) as fetcher:
        for url in [*urls, site.url("/missing")]:
            await fetcher.fetch(url)
    files = sorted(tmp_path.glob("*.warc.gz"))
    assert len(files) == 5
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
    assert read_archived(tmp_path, url) is not None


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
    raw = read_archived(tmp_path, url)
    assert raw is not None
    assert (raw.body, raw.header("transfer-encoding")) == (body, None)
    archive = PageArchive(tmp_path, 10_000)
    await archive.append(replace(raw, reason=""))
    await archive.close()
