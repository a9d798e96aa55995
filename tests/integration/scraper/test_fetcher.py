"""The page fetcher against a real server on loopback: what the web does, and what we make of it."""

import asyncio
import gzip
import ssl
from collections.abc import Callable
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from services.runtime.rpc_tls import CERTIFICATE, KEY
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import PageOutcome, Quality
from services.scraper.settings import ScraperSettings
from tests.certificates import certificates

Settings = Callable[..., ScraperSettings]


async def fetched(settings: ScraperSettings, url: str) -> PageOutcome:
    async with PageFetcher(settings) as fetcher:
        return await fetcher.fetch(url)


async def test_a_normal_page_becomes_text_with_title_and_language(
    site: Any, settings: Settings, article: Any
) -> None:
    url = site.put("/owls?b=1", article("Owls at night", "en-GB"))
    cited = url.replace("/owls?b=1", "/owls?utm_source=openai&b=1#top")
    page = await fetched(settings(), cited)
    assert (page.quality, page.http_status, page.redirects) == (Quality.OK, 200, 0)
    assert (page.url, page.final_url) == (cited, url)
    assert (page.title, page.language, page.content_type) == ("Owls at night", "en-GB", "text/html")
    assert "Observation 24" in page.text
    assert "Login" not in page.text
    assert page.wire_bytes == page.decoded_bytes == len(article("Owls at night", "en-GB"))
    assert page.fetched_at.tzinfo is UTC
    assert page.elapsed_s > 0


async def test_a_pdf_and_plain_text_are_read_too(site: Any, settings: Settings, pdf: Any) -> None:
    lines = "\n".join(f"Line {number}: owls hear mice under the snow." for number in range(20))
    printed = site.put("/a.pdf", pdf(lines), kind="application/pdf")
    plain = site.put("/a.md", f"# Owls in text\n\n{lines}".encode(), kind="text/markdown; charset=utf-8")
    broken = site.put("/b.pdf", pdf(lines)[:300], kind="application/pdf")
    async with PageFetcher(settings()) as fetcher:
        from_pdf, from_text, from_broken = [await fetcher.fetch(url) for url in (printed, plain, broken)]
    assert (from_pdf.quality, from_pdf.title, from_pdf.language) == (Quality.OK, "Owls in print", "en-GB")
    assert "Line 19: owls hear mice" in from_pdf.text
    assert (from_text.quality, from_text.title) == (Quality.OK, "Owls in text")
    assert (from_broken.quality, from_broken.text) == (Quality.EXTRACTION_FAILED, None)


async def test_a_legacy_charset_and_compression_are_undone(
    site: Any, settings: Settings, article: Any
) -> None:
    body = article("Möwen über Århus", "de").decode().encode("latin-1")
    wire = gzip.compress(body)
    url = site.put("/de", wire, kind="text/html; charset=iso-8859-1", Content_Encoding="gzip")
    page = await fetched(settings(), url)
    assert (page.quality, page.title) == (Quality.OK, "Möwen über Århus")
    assert (page.wire_bytes, page.decoded_bytes) == (len(wire), len(body))


HTML = "text/html"
BANNER = b"<html><body><div>We use cookies</div><button>Accept all cookies</button></body></html>"
BAD_PAGES = [
    (b"", "200 OK", HTML, Quality.EMPTY),
    (b" \n ", "200 OK", HTML, Quality.EMPTY),
    (b"<html><body><script>boot()</script></body></html>", "200 OK", HTML, Quality.EMPTY),
    (b"<html><body><p>Owls hunt at night.</p></body></html>", "200 OK", HTML, Quality.TOO_SHORT),
    (BANNER, "200 OK", HTML, Quality.COOKIE_WALL),
    (b"<title>Just a moment...</title><p>x</p>", "403 Forbidden", HTML, Quality.BOT_WALL),
    (b"<html><title>Page not found</title><p>Try the search.</p></html>", "200 OK", HTML, Quality.SOFT_404),
    (b"gone", "404 Not Found", HTML, Quality.NOT_FOUND),
    (b"oops", "500 Internal Server Error", HTML, Quality.HTTP_ERROR),
    (b"no", "403 Forbidden", HTML, Quality.BLOCKED),
    (b"\x89PNG\r\n\x1a\n", "200 OK", "image/png", Quality.WRONG_TYPE),
    (b"PK\x03\x04", "200 OK", HTML, Quality.WRONG_TYPE),
    (b'{"a": 1}', "200 OK", "application/json", Quality.WRONG_TYPE),
    (b"text", "302 Found", HTML, Quality.HTTP_ERROR),
]


async def test_a_bad_page_never_passes_as_content(site: Any, settings: Settings) -> None:
    async with PageFetcher(settings()) as fetcher:
        for number, (body, status, kind, quality) in enumerate(BAD_PAGES):
            page = await fetcher.fetch(site.put(f"/bad/{number}", body, status, kind))
            assert (page.quality, page.text, page.http_status) == (quality, None, int(status[:3])), page
            assert page.detail


async def test_a_teaser_that_declares_itself_paid_is_a_paywall(site: Any, settings: Settings) -> None:
    data = '<script type="application/ld+json">{"@graph": [{"isAccessibleForFree": "False"}]}</script>'
    teaser = "<p>" + "Owls hunt at night, and more follows for those who pay. " * 8 + "</p>"
    url = site.put(
        "/paid", f"<html><head>{data}</head><body><article>{teaser}</article></body></html>".encode()
    )
    page = await fetched(settings(), url)
    assert (page.quality, page.text) == (Quality.PAYWALL, None)


async def test_redirects_are_followed_and_counted_and_loops_end(
    site: Any, settings: Settings, article: Any
) -> None:
    start = site.put("/1", status="301 Moved", Location="/2")
    site.put("/2", status="302 Found", Location=site.url("/3"))
    end = site.put("/3", article())
    loop = site.put("/loop", status="302 Found", Location="/pool")
    site.put("/pool", status="302 Found", Location="/loop")
    for number in range(10):
        site.put(f"/far{number}", status="307 Temporary", Location=f"/far{number + 1}")
    out = site.put("/out", status="302 Found", Location="http://127.0.0.1:22/")
    odd = site.put("/odd", status="302 Found", Location="file:///etc/passwd")
    async with PageFetcher(settings()) as fetcher:
        page = await fetcher.fetch(start)
        circle, far = await fetcher.fetch(loop), await fetcher.fetch(site.url("/far0"))
        inside, file = await fetcher.fetch(out), await fetcher.fetch(odd)
    assert (page.quality, page.final_url, page.redirects) == (Quality.OK, end, 2)
    assert (circle.quality, far.quality) == (Quality.TOO_MANY_REDIRECTS, Quality.TOO_MANY_REDIRECTS)
    assert (far.redirects, site.asked["/far6"]) == (5, 0)
    assert (inside.quality, inside.http_status, inside.redirects) == (Quality.BLOCKED, None, 1)
    assert file.quality is Quality.INVALID_URL


async def test_a_large_page_is_refused_whether_it_announces_its_size_or_not(
    site: Any, settings: Settings
) -> None:
    large = b"<p>owls</p>" * 600_000
    announced = site.put("/announced", large)

    async def chunked(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(100):
            writer.write(b"%x\r\n%s\r\n" % (66_000, large[:66_000]))
            await writer.drain()

    silent = site.script("/silent", chunked)
    bomb = site.put("/bomb", gzip.compress(b"0" * 100_000_000), Content_Encoding="gzip")
    async with PageFetcher(settings()) as fetcher:
        pages = [await fetcher.fetch(url) for url in (announced, silent, bomb)]
    assert [page.quality for page in pages] == [Quality.TOO_LARGE] * 3
    assert [page.http_status for page in pages] == [200] * 3
    assert pages[0].wire_bytes == 0
    assert 5_000_000 < pages[1].wire_bytes < 5_200_000
    assert pages[2].decoded_bytes == 5_000_000


async def test_a_server_that_stalls_or_drips_ends_in_a_timeout(site: Any, settings: Settings) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n")
        while True:
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.02)

    stalling, dripping = site.script("/stall", stall), site.script("/drip", drip)
    quick = settings(read_seconds=1.0, total_seconds=2.0, per_host_concurrency=4, respect_robots=False)
    async with PageFetcher(quick) as fetcher:
        pages = await asyncio.gather(fetcher.fetch(stalling), fetcher.fetch(dripping))
    assert [page.quality for page in pages] == [Quality.TIMEOUT, Quality.TIMEOUT]
    assert 1.8 < pages[1].elapsed_s < 15  # all of it would take 20 s


async def test_a_broken_connection_is_unreachable(site: Any, settings: Settings) -> None:
    async def truncate(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\nhalf")
        writer.close()

    async def garble(writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH_9.6\r\n")
        writer.close()

    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    urls = [site.script("/cut", truncate), site.script("/ssh", garble), site.script("/bye", hang_up)]
    urls.append(site.put("/br", b"\x0b\x02\x80", Content_Encoding="br"))
    urls.append(site.put("/gz", gzip.compress(b"owls" * 9999)[:-30], Content_Encoding="gzip"))
    async with PageFetcher(settings()) as fetcher:
        pages = [await fetcher.fetch(url) for url in urls]
    unreachable = Quality.UNREACHABLE
    assert [page.quality for page in pages] == [unreachable] * 3 + [Quality.WRONG_TYPE, unreachable]


async def test_a_certificate_that_nobody_vouches_for_is_not_accepted(
    settings: Settings, article: Any, tmp_path: Path
) -> None:
    folder = certificates(tmp_path / "unknown", "127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / CERTIFICATE, folder / KEY)
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    page = await fetched(settings(allowed_hosts=(f"127.0.0.1:{port}",)), f"https://127.0.0.1:{port}/")
    server.close()
    assert page.quality is Quality.UNREACHABLE
    assert "CERTIFICATE_VERIFY_FAILED" in page.detail


async def test_nobody_listening_is_unreachable(site: Any, settings: Settings) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    free = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    page = await fetched(settings(allowed_hosts=(f"127.0.0.1:{free}",)), f"http://127.0.0.1:{free}/")
    assert (page.quality, page.http_status) == (Quality.UNREACHABLE, None)


async def test_what_is_no_url_is_said_so(settings: Settings) -> None:
    async with PageFetcher(settings()) as fetcher:
        for url in ("", "nonsense", "http://user:pw@example.com/", "http://0x7f000001/"):
            page = await fetcher.fetch(url)
            assert (page.quality, page.url, page.final_url) == (Quality.INVALID_URL, url, url)


async def test_a_page_cited_many_times_is_fetched_once(site: Any, settings: Settings, article: Any) -> None:
    url = site.put("/owls", article())
    spellings = [f"{url}?utm_campaign={number}" for number in range(5)] + [url + "#a", url]
    async with PageFetcher(settings()) as fetcher:
        pages = await asyncio.gather(*(fetcher.fetch(spelling) for spelling in spellings))
        later = await fetcher.fetch(url)
    assert site.asked["/owls"] == 1
    assert [page.url for page in pages] == spellings
    assert {page.text for page in [*pages, later]} == {pages[0].text}


async def test_one_host_is_not_stormed(site: Any, settings: Settings, article: Any) -> None:
    urls = [site.put(f"/{number}", article()) for number in range(8)]
    async with PageFetcher(settings(per_host_concurrency=2, allowed_host_delay=0.02)) as fetcher:
        pages = await asyncio.gather(*(fetcher.fetch(url) for url in urls))
    assert {page.quality for page in pages} == {Quality.OK}
    assert site.most_inside <= 2
    assert max(page.elapsed_s for page in pages) >= 7 * 0.02


async def test_the_server_sees_who_we_are_and_no_cookies(site: Any, settings: Settings, article: Any) -> None:
    url = site.put("/a", article(), Set_Cookie="id=1")
    other = site.put("/b", article())
    async with PageFetcher(settings(user_agent="Testbot/1.0 (+mailto:owner@example.com)")) as fetcher:
        await fetcher.fetch(url)
        await fetcher.fetch(other)
    assert all("User-Agent: Testbot/1.0 (+mailto:owner@example.com)\r\n" in head for head in site.heads)
    assert all(f"Host: {site.authority}\r\n" in head for head in site.heads)
    assert not any("cookie" in head.lower() for head in site.heads)


async def test_closing_while_pages_are_under_way_leaves_nothing_behind(site: Any, settings: Settings) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    url = site.script("/stall", stall)
    async with PageFetcher(settings(respect_robots=False)) as fetcher:
        waiting = asyncio.create_task(fetcher.fetch(url))
        while not site.asked["/stall"]:
            await asyncio.sleep(0.005)
    with pytest.raises(asyncio.CancelledError):
        await waiting
