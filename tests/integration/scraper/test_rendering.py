"""Script-only pages in a real browser on loopback, which reaches nothing but through our guard."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.scraper.archive_reader import ArchiveReader
from services.scraper.fetcher import PageFetcher
from services.scraper.outcome import PageOutcome, Quality
from services.scraper.replay import Replayer
from services.scraper.settings import ScraperSettings

pytestmark = pytest.mark.browser

SHELL = (
    "<html lang='en'><head><title>Owls</title></head><body><div id='root'></div>{script}"
    "<noscript>{none}</noscript></body></html>"
)
NONE = "You need to enable JavaScript to run this app."
OWLS = "Owls hear mice under the snow from thirty metres away and fly to them without a sound. " * 6
SHOW = "document.getElementById('root').innerHTML = '<article><h1>Owls</h1><p>' + {text} + '</p></article>';"


WORKER = "fetch('http://INSIDE/worker').then(() => postMessage(1), () => postMessage(0))"
# Ways to reach an address; each is a promise that is fulfilled if it succeeds.
WAYS = [
    "fetch('http://internal.example/secret')",
    "fetch('http://INSIDE/fetch')",
    "fetch('http://localhost/name')",
    "fetch('/hop')",
    "fetch('/private/page')",
    "fetch('http://INSIDE/post', {method: 'POST', body: 'x', mode: 'no-cors'})",
    """new Promise((yes, no) => {
      const socket = new WebSocket('ws://INSIDE/'); socket.onopen = yes; socket.onerror = no;
    })""",
    f"""new Promise((yes, no) => {{
      const worker = new Worker(URL.createObjectURL(new Blob([`{WORKER}`])));
      worker.onmessage = (event) => event.data ? yes() : no();
    }})""",
    """new Promise((yes, no) => {
      const frame = document.createElement('iframe'); frame.src = 'http://INSIDE/frame';
      frame.onload = no; document.body.append(frame);
    })""",
    "new Promise((yes, no) => window.RTCPeerConnection ? yes() : no())",
]


@pytest.fixture(scope="module")
def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no browser: install chromium, or set CHROMIUM")
    return found


@pytest.fixture
async def browser_url(chromium: str, tmp_path: Path) -> AsyncIterator[str]:
    """Where a browser with a profile of its own answers."""
    profile = tmp_path / "profile"
    process = await asyncio.create_subprocess_exec(
        chromium,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--no-first-run",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(60):
            while not (port := _port(profile)):
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            async with asyncio.timeout(90):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


def _port(profile: Path) -> str:
    """The port that the browser chose; empty until it listens."""
    chosen = profile / "DevToolsActivePort"
    lines = chosen.read_text().splitlines() if chosen.exists() else []
    return lines[0] if len(lines) == 2 else ""


def shell(script: str) -> bytes:
    return SHELL.format(script=script, none=NONE).encode()


class Names:
    """A resolver that knows one name; its address is never connected to."""

    def __init__(self, **names: str) -> None:
        self.names = names
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        return [self.names[host.partition(".")[0]]]


@pytest.fixture
def rendering(browser_url: str, settings: Callable[..., ScraperSettings]) -> Callable[..., ScraperSettings]:
    return lambda **changes: settings(**({"render_url": browser_url} | changes))


async def fetched(settings: ScraperSettings, url: str, names: Names | None = None) -> PageOutcome:
    async with PageFetcher(settings, names) as fetcher:
        return await fetcher.fetch(url)


async def test_a_script_only_page_gets_the_text_that_its_scripts_fetch(
    site: Any, rendering: Any, settings: Any, tmp_path: Path
) -> None:
    show = SHOW.format(text="data.text")
    url = site.put("/app", shell("<script src='/main.js'></script><img src='/picture.png'>"))
    site.put(
        "/main.js",
        f"fetch('/api').then(r => r.json()).then(data => {{ {show} }});".encode(),
        kind="text/javascript",
    )
    site.put("/api", f'{{"text": "{OWLS}"}}'.encode(), kind="application/json")

    assert (await fetched(settings(), url)).quality is Quality.SCRIPT_ONLY
    archive = tmp_path / "archive"
    page = await fetched(rendering(archive_dir=archive), url)
    assert (page.quality, page.title, page.language) == (Quality.OK, "Owls", "en"), page.detail
    assert page.text is not None
    assert OWLS.strip() in page.text
    assert NONE not in page.text
    assert "rendered by a browser" in page.detail
    assert (site.asked["/main.js"], site.asked["/api"], site.asked["/picture.png"]) == (1, 1, 0)
    assert all(f"User-Agent: {settings().user_agent}" in head for head in site.heads)

    async with Replayer(ArchiveReader(archive), settings()) as replayer:
        replayed = await replayer.fetch(url)
    assert (replayed.quality, replayed.text) == (Quality.OK, page.text)


@pytest.mark.parametrize("shown", [pytest.param("", marks=pytest.mark.full), "Loading…"])
async def test_a_page_without_text_or_notice_is_rendered_too(
    site: Any, rendering: Any, settings: Any, shown: str
) -> None:
    show = SHOW.format(text=f"'{OWLS}'")
    body = f"<html><title>Owls</title><body><div id='root'>{shown}</div><script src='/main.js'></script>"
    url = site.put("/silent", body.encode())
    site.put("/main.js", show.encode(), kind="text/javascript")
    assert (await fetched(settings(), url)).quality is Quality.SCRIPT_ONLY
    page = await fetched(rendering(), url)
    assert (page.quality, OWLS.strip() in (page.text or "")) == (Quality.OK, True), page.detail


async def test_a_page_that_stays_empty_says_that_it_was_rendered(site: Any, rendering: Any) -> None:
    url = site.put("/hollow", b"<html><body><div id='root'></div><script>1</script>")
    page = await fetched(rendering(), url)
    assert page.quality is Quality.SCRIPT_ONLY
    assert "rendered by a browser" in page.detail


async def test_a_page_with_text_never_reaches_the_browser(site: Any, settings: Any, article: Any) -> None:
    url = site.put("/article", article() + b"<script src='/main.js'></script>")
    nowhere = settings(render_url="http://127.0.0.1:1")
    assert (await fetched(nowhere, url)).quality is Quality.OK
    assert site.asked["/main.js"] == 0


async def test_a_script_reaches_no_forbidden_address_in_any_way(site: Any, rendering: Any) -> None:
    inside: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        inside.append(await reader.read(100))
        writer.close()

    server = await asyncio.start_server(listen, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    ways = [way.replace("INSIDE", f"127.0.0.1:{port}") for way in WAYS]
    show = SHOW.format(text=f"'reached: ' + done.filter(r => r.status == 'fulfilled').length + '. {OWLS}'")
    inner = f"http://127.0.0.1:{port}"
    hints = f"<link rel='preconnect' href='{inner}'><link rel='prefetch' href='{inner}/p'>"
    script = f"<script>Promise.allSettled([{','.join(ways)}]).then(done => {{ {show} }});</script>"
    url = site.put("/attack", shell(hints + script))
    site.put("/hop", status="302 Found", Location="http://internal.example/after-a-redirect")
    site.put("/robots.txt", b"User-agent: *\nDisallow: /private/", kind="text/plain")
    site.put("/private/page", b"secret", Access_Control_Allow_Origin="*")
    names = Names(internal="10.0.0.1", localhost="127.0.0.1")
    page = await fetched(rendering(), url, names)
    server.close()
    await server.wait_closed()
    assert page.quality is Quality.OK, page.detail
    assert page.text is not None
    assert "reached: 0." in page.text
    assert inside == []
    assert names.asked.count("internal.example") >= 1  # it was asked for, and the guard said no
    assert site.asked["/private/page"] == 0


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("while (true) {}", id="loop"),
        pytest.param("fetch('/never')", id="stall", marks=pytest.mark.full),
        pytest.param(
            "setInterval(() => fetch('/tick?' + Math.random()), 20)", id="polling", marks=pytest.mark.full
        ),
    ],
)
async def test_a_page_that_never_ends_is_cut_off(site: Any, rendering: Any, script: str) -> None:
    async def stall(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    site.script("/never", stall)
    url = site.put("/endless", shell(f"<script>{script}</script>"))
    async with PageFetcher(rendering(render_seconds=1.0, render_requests=5)) as fetcher:
        page = await fetcher.fetch(url)
        assert page.quality in (Quality.SCRIPT_ONLY, Quality.EMPTY)
        assert page.elapsed_s < 15
    show = SHOW.format(text=f"'{OWLS}'")
    after = await fetched(
        rendering(render_seconds=60.0), site.put("/after", shell(f"<script>{show}</script>"))
    )
    assert after.quality is Quality.OK, after.detail
    assert sum(count for path, count in site.asked.items() if path.startswith("/tick")) <= 5


async def test_a_page_in_place_of_the_page_is_not_taken_for_it(
    site: Any, rendering: Any, article: Any
) -> None:
    site.put("/other", article())
    url = site.put("/leads", shell("<script>location = '/other'</script>"))
    page = await fetched(rendering(), url)
    assert (page.quality, page.text) == (Quality.SCRIPT_ONLY, None)
    assert "another page" in page.detail
    assert site.asked["/other"] == 0


async def test_bytes_are_limited_over_all_requests(site: Any, rendering: Any) -> None:
    loads = "Promise.allSettled([1, 2, 3].map(n => fetch('/big?' + n).then(r => r.text())))"
    for number in range(1, 4):
        site.put(f"/big?{number}", b"x" * 300_000, kind="text/plain")
    show = SHOW.format(text=f"'loaded: ' + done.filter(r => r.status == 'fulfilled').length + '. {OWLS}'")
    url = site.put("/many", shell(f"<script>{loads}.then(done => {{ {show} }});</script>"))
    page = await fetched(rendering(render_bytes=700_000), url)
    assert "loaded: 2." in (page.text or page.detail)


async def test_a_browser_that_is_away_leaves_the_page_as_it_is(site: Any, settings: Any) -> None:
    url = site.put("/app", shell("<script>boot()</script>"))
    page = await fetched(settings(render_url="http://127.0.0.1:1"), url)
    assert page.quality is Quality.SCRIPT_ONLY
    assert "not rendered" in page.detail
