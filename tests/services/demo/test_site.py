"""The demo site answers each case as announced, over a real socket, and leaves quickly and quietly."""

import asyncio
import gc
import logging
import time
from io import BytesIO

import httpx2
import pytest
import pytest_asyncio
from protego import Protego
from pypdf import PdfReader

from services.cli.demo.site import create_site, demo_root, serve_site
from services.cli.demo.ugly import HUGE_BYTES, UGLY

LEAVES_WITHIN_S = 10.0  # a server that waited for its readers would take for ever

pytestmark = pytest.mark.asyncio(loop_scope="module")  # one site for all: it keeps no state


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client():
    async with (
        serve_site(demo_root(), hang_s=0.05) as base_url,
        httpx2.AsyncClient(base_url=base_url, timeout=90) as http,
    ):
        yield http


@pytest.mark.parametrize(
    ("path", "status", "content_type", "says"),
    [
        ("/", 200, "text/html", "The demo library"),
        ("/en/tides.html", 200, "text/html", "two high tides"),
        ("/en/gluten.md", 200, "text/markdown; charset=utf-8", "glutenins"),
        ("/es/riego.txt", 200, "text/plain; charset=utf-8", "mañana"),
        ("/robots.txt", 200, "text/plain; charset=utf-8", "Disallow: /private/"),
        ("/archive/sourdough-faq.html", 404, "text/html", "Not Found"),
        ("/blank/climate-levels.html", 200, "text/html", ""),
        ("/consent/heat-pump-guide.html", 200, "text/html", "Accept all cookies"),
        ("/guarded/tcp-udp.html", 403, "text/html", "Checking your browser"),
        ("/checking/el-nino.html", 200, "text/html", "Checking your browser"),
        ("/retired/bee-dances.html", 200, "text/html", "Page not found"),
        ("/premium/tomates.html", 200, "text/html", "solo para suscriptores"),
        ("/media/miso-barrel.png", 200, "image/png", "PNG"),
        ("/media/climate-data.zip", 200, "application/zip", "PK"),
        ("/private/metre-notes.html", 200, "text/html", "Private notes"),
        ("/broken/haiku.html", 500, "text/html", "Internal Server Error"),
    ],
)
async def test_a_page_has_its_status_type_and_text(client, path, status, content_type, says):
    reply = await client.get(path)
    assert (reply.status_code, reply.headers["content-type"]) == (status, content_type)
    assert says in reply.content.decode("utf-8", "replace")
    assert bool(reply.content) == bool(says)


@pytest.mark.parametrize(
    ("path", "statuses", "target"),
    [("/moved/tides", [301], "/en/tides.html"), ("/go/pfand", [302, 302], "/de/pfandsystem.html")],
)
async def test_a_redirect_ends_at_a_good_page(client, path, statuses, target):
    reply = await client.get(path, follow_redirects=True)
    assert [hop.status_code for hop in reply.history] == statuses
    assert (reply.status_code, reply.url.path) == (200, target)


async def test_a_redirect_loop_never_arrives(client):
    with pytest.raises(httpx2.TooManyRedirects):
        await client.get("/loop/one", follow_redirects=True)


async def test_the_huge_page_hides_its_length_and_exceeds_five_megabytes(client):
    reply = await client.get("/huge/fire-chronicle.html")
    assert "content-length" not in reply.headers
    assert len(reply.content) >= HUGE_BYTES > 5_000_000


async def test_the_hanging_page_gives_up_after_its_time(client):
    assert (await client.get("/slow/galapagos.html")).status_code == 503


@pytest.mark.parametrize(
    ("path", "says"), [("/en/insulation.pdf", "U-value"), ("/es/ficha-el-nino.pdf", "EL NIÑO Y LA NIÑA")]
)
async def test_a_pdf_can_be_read(client, path, says):
    reply = await client.get(path)
    assert reply.headers["content-type"] == "application/pdf"
    assert says in PdfReader(BytesIO(reply.content)).pages[0].extract_text()


async def test_the_shift_jis_page_declares_its_encoding_only_in_the_markup(client):
    reply = await client.get("/ja/kigo.html")
    assert reply.headers["content-type"] == "text/html"
    assert b'<meta charset="shift_jis">' in reply.content
    assert "季語と歳時記" in reply.content.decode("shift_jis")


async def test_robots_txt_denies_exactly_the_private_folder(client):
    rules = Protego.parse((await client.get("/robots.txt")).text)
    denied = {path for path in UGLY if not rules.can_fetch(path, "nuggetstream")}
    assert denied == {path for path, case in UGLY.items() if case == "robots denied"}


async def test_a_path_cannot_leave_the_site_folder():
    transport = httpx2.ASGITransport(create_site(demo_root()))
    async with httpx2.AsyncClient(transport=transport, base_url="http://demo") as http:
        assert (await http.get("/%2e%2e/battles.jsonl")).status_code == 404
        assert (await http.get("/en/%2e%2e/%2e%2e/README.md")).status_code == 404


async def test_leaving_is_quick_and_quiet_while_a_request_hangs(caplog):
    caplog.set_level(logging.DEBUG)
    async with httpx2.AsyncClient(timeout=90) as http:
        async with serve_site(demo_root()) as base_url:
            sent = asyncio.Event()
            hanging = asyncio.create_task(_get_hanging(http, base_url, sent))
            await sent.wait()
            await http.get(f"{base_url}/en/tides.html")  # answered after the server has read the one before
            assert not hanging.done()
            leaving = time.monotonic()
        assert time.monotonic() - leaving < LEAVES_WITHIN_S
        assert (await hanging).status_code == 503
    assert [record for record in caplog.records if record.name.startswith("uvicorn")] == []


@pytest.mark.slow
async def test_leaving_is_quick_while_a_reader_ignores_a_huge_page(caplog):
    caplog.set_level(logging.INFO)
    async with serve_site(demo_root()) as base_url:
        host, port = base_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port), limit=1024)
        writer.write(b"GET /huge/fire-chronicle.html HTTP/1.1\r\nHost: demo\r\n\r\n")
        assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        leaving = time.monotonic()
    assert time.monotonic() - leaving < LEAVES_WITHIN_S
    writer.close()
    gc.collect()  # a task left pending would complain here
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_two_sites_run_side_by_side():
    async with (
        serve_site(demo_root()) as one,
        serve_site(demo_root()) as two,
        httpx2.AsyncClient(timeout=90) as http,
    ):
        assert one != two
        assert (await http.get(f"{one}/en/quic.html")).content == (
            await http.get(f"{two}/en/quic.html")
        ).content


async def _get_hanging(http: httpx2.AsyncClient, base_url: str, sent: asyncio.Event) -> httpx2.Response:
    async def trace(event: str, _: object) -> None:
        if event == "http11.send_request_body.complete":
            sent.set()

    return await http.get(f"{base_url}/slow/galapagos.html", timeout=None, extensions={"trace": trace})
