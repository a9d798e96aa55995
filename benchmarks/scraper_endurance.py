"""Fetch 5,000 pages from a server that misbehaves: nothing may crash, hang or leak.

    python -m benchmarks.scraper_endurance [--pages 5000]

The server runs in a process of its own on loopback. Memory, open files and tasks are those of the scraper's
process, after a fifth of the pages and at the end; memory is the resident size and may grow by 10%.
"""

import argparse
import asyncio
import gc
import gzip
import os
import resource
import sys
import time
from collections import Counter
from pathlib import Path

from benchmarks.labelled_pages import labelled_pages
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import Quality
from services.scraper.settings import ScraperSettings

GROWTH = 0.10
AT_ONCE = 64
_OK = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n"
_DEEP = b"<div>" * 20_000 + b"<p>owls</p>" + b"</div>" * 20_000
_HUGE = b"<p>owls hunt at night</p>" * 8_000  # 200 kB
_BOMB = gzip.compress(bytes(50_000_000))
_ARTICLES = [page.body for page in labelled_pages() if page.kind.startswith("article")]
_WALLS = [page for page in labelled_pages() if not page.kind.startswith("article")]
KINDS = 16  # one in so many pages is of each kind; the first five kinds are articles


def whole(body: bytes, kind: bytes = b"text/html", headers: bytes = b"") -> bytes:
    return _OK % (kind, len(body), headers) + body


async def answer(number: int, writer: asyncio.StreamWriter) -> bool:
    """Answer the request for one page; False where the connection ends with it."""
    kind = number % KINDS
    article = _ARTICLES[number % len(_ARTICLES)].replace(b"</title>", b" %d</title>" % number)
    wall = _WALLS[number % len(_WALLS)]
    rare = number % (10 * KINDS) < KINDS  # what takes seconds to read
    answers = {
        5: whole(gzip.compress(article), headers=b"Content-Encoding: gzip\r\n"),
        6: whole(wall.body, wall.content_type.encode()),
        7: b"HTTP/1.1 302 Found\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n" % (number + KINDS),
        8: whole(_HUGE + article) if rare else whole(article, b"image/png"),
        9: whole(_BOMB, headers=b"Content-Encoding: gzip\r\n"),
        10: whole(_DEEP) if rare else whole(article, headers=b"Content-Encoding: br\r\n"),
        11: whole(os.urandom(3000), b"application/pdf"),
        12: whole(b"%PDF-1.4\n" + article, b"application/pdf"),
        13: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 9000\r\n\r\nhalf",
        14: b"SSH-2.0-OpenSSH_9.6\r\n",
    }
    if kind == 15:
        if number % (4 * KINDS) == 15:
            await asyncio.sleep(5)  # longer than the scraper waits
        writer.write(b"HTTP/1.1 503 Unavailable\r\nContent-Length: 0\r\n\r\n")
        return True
    writer.write(answers.get(kind) or whole(article))
    return kind not in (13, 14)


async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode().strip("/")
            if path == "robots.txt":
                writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
            elif not await answer(int(path), writer):
                break
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def serve() -> None:
    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def state() -> tuple[float, int, int]:
    """Resident megabytes, open files and tasks of this process."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return (
        pages * resource.getpagesize() / 1e6,
        len(list(Path("/proc/self/fd").iterdir())),
        len(asyncio.all_tasks()),
    )


async def fetch_all(host: str, count: int) -> bool:
    settings = ScraperSettings(
        allowed_hosts=(host,),
        per_host_concurrency=AT_ONCE,
        queue_seconds=600.0,
        connect_seconds=2.0,
        read_seconds=1.0,
        total_seconds=4.0,
        max_decoded_bytes=2_000_000,
        extraction_seconds=2.0,
        cache_pages=100,
    )
    slots, qualities, states = asyncio.Semaphore(AT_ONCE), Counter[str](), []

    async def one(fetcher: PageFetcher, number: int) -> Quality:
        async with slots:
            return (await fetcher.fetch(f"http://{host}/{number}")).quality

    begun = time.monotonic()
    async with PageFetcher(settings) as fetcher:
        fifth = count // 5
        for start in range(0, count, fifth):
            numbers = range(start, min(start + fifth, count))
            done = await asyncio.gather(*(one(fetcher, number) for number in numbers))
            qualities.update(quality.value for quality in done)
            states.append(state())
            print(f"{start + len(done):>6} pages: %.0f MB, %d files, %d tasks" % states[-1], flush=True)
    after = state()
    print(f"\n{count} pages in {time.monotonic() - begun:.0f} s: {dict(qualities.most_common())}")
    grown = states[-1][0] / states[0][0] - 1
    complete = qualities.total() == count
    print(
        f"memory grew by {grown:.1%}; goal: at most {GROWTH:.0%}; {after[2] - 1} tasks are left after the end"
    )
    return complete and grown <= GROWTH and after[2] == 1


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        await serve()
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.scraper_endurance", "--serve", stdout=asyncio.subprocess.PIPE
    )
    try:
        assert server.stdout is not None
        port = int(await server.stdout.readline())
        return 0 if await fetch_all(f"127.0.0.1:{port}", options.pages) else 1
    finally:
        server.kill()
        await server.wait()


if __name__ == "__main__":
    raise SystemExit(asyncio.run(main()))
