"""An archive can replay every visit, also one at which the server said that a known page has not changed."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.scraper.archive import ArchivedVisit, PageArchive
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import PageOutcome, Quality, Validators
from services.scraper.settings import ScraperSettings
from services.store.content.fetched_pages import FetchedPages
from services.store.database import Database
from tests.databases import copy_of
from tests.integration.scraper.test_archive import archive_command, replayed

Settings = Callable[..., ScraperSettings]


def versioned(site: Any, path: str, body: bytes, etag: str) -> str:
    """Serve a page that answers 304 whoever names its version; its URL."""
    kept = f'HTTP/1.1 304 Not Modified\r\nETag: "{etag}"\r\n\r\n'.encode()
    head = f'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "{etag}"\r\nContent-Length: {len(body)}'

    async def send(writer: Any) -> None:
        named = f'if-none-match: "{etag}"' in site.heads[-1].lower()
        writer.write(kept if named else head.encode() + b"\r\n\r\n" + body)

    url: str = site.script(path, send)
    return url


def named_version(site: Any) -> bool:
    """Whether the last request named the version that is known."""
    return "if-none-match" in site.heads[-1].lower()


async def test_a_page_that_is_known_but_not_in_the_archive_is_fetched_in_full(
    site: Any, settings: Settings, article: Any, tmp_path: Path, migrated_sqlite: Path
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    store, url = FetchedPages(database), versioned(site, "/a", article("Owls"), "v1")
    seen = []
    # An archive that begins late, its second run, an archive in a new folder, and none.
    for folder, names in (
        (None, False), ("one", False), ("one", True), ("two", False), (None, True), ("two", True),
    ):  # fmt: skip
        archive_dir = tmp_path / folder if folder else None
        async with PageFetcher(
            settings(archive_dir=archive_dir, cache_seconds=0.001), store=store
        ) as fetcher:
            seen.append(await fetcher.fetch(url, "oolong"))
        assert named_version(site) == names
        if archive_dir is not None:
            again = await replayed(archive_dir, settings(), url)
            assert (again.quality, again.text) == (Quality.OK, seen[0].text)
            assert again.fetched_at == seen[-1].fetched_at
            assert archive_command("verify", str(archive_dir))[0] == 0
    assert {page.text for page in seen} == {seen[0].text}
    await database.close()


async def test_a_version_that_the_archive_lacks_is_not_asked_about(
    site: Any, settings: Settings, article: Any, tmp_path: Path, migrated_sqlite: Path
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    store, folder = FetchedPages(database), tmp_path / "warc"

    async def fetched(title: str, *, archived: bool) -> PageOutcome:
        versioned(site, "/a", article(title), title)
        archive_dir = folder if archived else None
        async with PageFetcher(
            settings(archive_dir=archive_dir, cache_seconds=0.001), store=store
        ) as fetcher:
            return await fetcher.fetch(site.url("/a"), "oolong")

    await fetched("First", archived=True)
    assert (await fetched("Second", archived=False)).title == "Second"
    second = await fetched("Second", archived=True)
    assert not named_version(site)
    again = await replayed(folder, settings(), site.url("/a"))
    assert (again.title, again.fetched_at) == ("Second", second.fetched_at)
    (warc, *_) = sorted(folder.glob("*.warc.gz"), reverse=True)
    warc.write_bytes(warc.read_bytes()[:100])
    assert (await fetched("Second", archived=True)).title == "Second"
    assert not named_version(site), "what cannot be read cannot be replayed"
    assert (await replayed(folder, settings(), site.url("/a"))).title == "Second"
    await database.close()


async def test_a_visit_that_found_no_change_is_replayed_from_the_version_that_it_confirmed(
    site: Any, settings: Settings, article: Any, tmp_path: Path, migrated_sqlite: Path
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    archive = settings(archive_dir=tmp_path / "warc", cache_seconds=0.001)
    versioned(site, "/a", article("Owls"), "v1")
    moved = site.put("/moved", status="301 Moved", Location="/a")
    async with PageFetcher(archive, store=FetchedPages(database)) as fetcher:
        first = await fetcher.fetch(site.url("/a"), "oolong")
        versioned(site, "/a", article("Ducks"), "v2")
        await fetcher.fetch(moved, "oolong")  # archives another version of the same address
        versioned(site, "/a", article("Owls"), "v1")
        second = await fetcher.fetch(site.url("/a"), "oolong")
    assert named_version(site)
    assert (second.title, second.text) == ("Owls", first.text)
    again = await replayed(tmp_path / "warc", settings(), site.url("/a"))
    assert (again.title, again.text, again.fetched_at) == ("Owls", first.text, second.fetched_at)
    assert archive_command("verify", str(tmp_path / "warc"))[0] == 0
    await database.close()


async def test_no_index_is_read_to_know_whether_a_version_is_archived(
    site: Any, settings: Settings, article: Any, tmp_path: Path, migrated_sqlite: Path
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    archive = settings(archive_dir=tmp_path / "warc", cache_seconds=0.001)
    url = versioned(site, "/a", article("Owls"), "v1")
    async with PageFetcher(archive, store=FetchedPages(database)) as fetcher:
        await fetcher.fetch(url, "oolong")
    for index in (tmp_path / "warc").glob("*.index.jsonl"):
        index.unlink()
    async with PageFetcher(archive, store=FetchedPages(database)) as fetcher:
        await fetcher.fetch(url, "oolong")
    assert named_version(site)
    await database.close()


async def test_an_answer_without_a_page_that_nobody_asked_for_is_archived(
    site: Any, settings: Settings, tmp_path: Path
) -> None:
    url = site.put("/a", status="304 Not Modified", kind="")
    async with PageFetcher(settings(archive_dir=tmp_path)) as fetcher:
        seen = await fetcher.fetch(url)
        assert await replayed(tmp_path, settings(), url) == seen, "also while it is written"
    assert archive_command("verify", str(tmp_path))[0] == 0


async def test_visits_that_cannot_be_replayed_are_found(
    site: Any, settings: Settings, article: Any, tmp_path: Path
) -> None:
    url, folder = versioned(site, "/a", article("Owls"), "v1"), tmp_path / "warc"
    async with PageFetcher(settings()) as fetcher:
        seen = await fetcher.fetch(url)
    archive = PageArchive(folder, 10**6)
    await archive.append_visit(ArchivedVisit(seen, read=True))
    status, lines = archive_command("verify", str(folder))
    assert (status, lines[-1]) == (1, "1 files, 1 problems")
    assert lines[0].endswith("a visit without a response that it could be replayed from")
    assert url in lines[0]
    assert (await replayed(folder, settings(), url)).quality is Quality.UNREACHABLE
    async with PageFetcher(settings(archive_dir=folder)) as fetcher:
        await fetcher.fetch(url)
    assert archive_command("verify", str(folder)) == (0, ["2 files, 0 problems"])
    other = replace(seen, validators=Validators(url, '"v2"', None))
    await archive.append_visit(ArchivedVisit(other, read=True))
    status, lines = archive_command("verify", str(folder))
    assert (status, lines[-1]) == (1, "2 files, 1 problems")
    assert "a visit whose response is of another version" in lines[0]
    await archive.append_visit(ArchivedVisit(replace(other, url=site.url("/b")), read=False))
    assert len(archive_command("verify", str(folder))[1]) == 2, "a visit without a response needs none"
    await archive.close()
