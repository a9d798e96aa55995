"""A web page that somebody visits cannot reach the gateway through their browser."""

import httpx2
import pytest
from starlette.datastructures import Headers

from services.gateway.app import create_app
from services.gateway.hosts import AllowedHosts
from services.runtime.asgi import serving
from tests.integration.gateway.world import World, submission

ELSEWHERE = "a page of another site cannot write here"
OURS = AllowedHosts.of(["gateway", " Arena.Example.org. ", "*.svc", ""])


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST:8080",
        "127.0.0.1:1",
        "[::1]:8080",
        "localhost.",
        "gateway:8080",
        "arena.example.org",
        "gateway.ours.svc",
    ],
)
def test_our_names_are_admitted_with_any_port(host: str) -> None:
    assert OURS.admits(host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example",
        "evil.example:8080",
        "localhost.evil.example",
        "evil-gateway",
        "svc",
        "xsvc",
        "127.0.0.1.evil.example",
        "127.0.0.2",
        "x@localhost",
        "evil.example/localhost",
        "localhost#x",
        "[::1",
    ],
)
def test_other_names_are_not_admitted(host: str | None) -> None:
    assert not OURS.admits(host)


@pytest.mark.parametrize(
    ("sent", "may"),
    [
        ({}, True),
        ({"origin": "http://localhost:8080", "host": "localhost:8080"}, True),
        ({"origin": "https://arena.example.org", "host": "gateway:8080"}, True),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"origin": "http://localhost:3000", "host": "localhost:8080"}, False),
        ({"origin": "https://evil.example", "host": "localhost:8080"}, False),
        ({"origin": "null", "host": "localhost:8080"}, False),
        ({"origin": "", "host": ""}, False),
        ({"origin": "http://[", "host": "localhost:8080"}, False),
        ({"origin": "http://[::1", "host": "[::1"}, False),
        ({"origin": "http://[x]", "host": "localhost:8080"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
    ],
)
def test_a_write_comes_from_no_page_or_from_our_own(sent: dict[str, str], may: bool) -> None:
    assert OURS.may_write(Headers(sent)) is may


async def test_a_rebound_name_reads_nothing(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    for path in ("/", "/v1/battles", "/v1/battles/tides", "/openapi.json", "/static/nuggetstream.css"):
        answer = await world.http.get(path, headers={"host": "evil.example"})
        assert answer.status_code == 421
        assert "tides" not in answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert (await world.http.get("/healthz", headers={"host": "10.1.2.3:8080"})).status_code == 200
    assert (await world.http.get("/v1/battles")).status_code == 200


async def test_a_page_of_another_site_writes_nothing(world: World) -> None:
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        answer = await world.http.post("/v1/battles", json=submission(), headers=headers)
        assert (answer.status_code, answer.json()["error"]) == (
            403,
            "a page of another site cannot write here",
        )
    assert (await world.http.get("/v1/battles")).json() == []
    own = {"origin": str(world.http.base_url).rstrip("/")}
    assert (await world.http.post("/v1/battles", json=submission(), headers=own)).status_code == 202
    vote = await world.http.post("/v1/battles/tides/vote", json={"vote": "a"}, headers={"origin": "http://x"})
    assert vote.status_code == 403


async def test_an_operator_can_add_names(world: World) -> None:
    app = create_app(world.gateway, AllowedHosts.of(["arena.example.org"]))
    async with serving(app) as url, httpx2.AsyncClient(base_url=url, timeout=90) as http:
        assert (await http.get("/v1/battles", headers={"host": "arena.example.org"})).status_code == 200
        assert (await http.get("/v1/battles", headers={"host": "other.example.org"})).status_code == 421


@pytest.mark.parametrize("origin", ["http://[", "http://[x]/", "https://evil.example"])
async def test_a_malformed_origin_is_answered_as_that_of_another_site(world: World, origin: str) -> None:
    answer = await world.http.post("/v1/battles", json=submission(), headers={"origin": origin})
    assert (answer.status_code, answer.json()["error"]) == (403, ELSEWHERE)
