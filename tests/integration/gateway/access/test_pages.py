"""The login of the pages, users of a trusted proxy, and other sites."""

import re
from ipaddress import ip_network

import httpx2
import pytest

from nuggetstream.domain.pipeline import Stage
from services.access.callers import Role
from services.access.sites import Sites, origins_of
from services.gateway.access.proxies import TrustedProxies
from services.runtime.bus import Bus
from services.store.access.api_keys import ApiKeys
from services.store.access.audit_log import AuditLog
from services.store.database import Database
from tests.integration.gateway.access.samples import bearer, issued
from tests.integration.gateway.world import NOW, Story, World, battle, opened, submission

HTML = {"accept": "text/html"}
SITE = "https://arena.example.org"


async def tell(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    await world.happens(*Story(battle()).told())


async def log_in(world: World, token: str, **headers: str) -> httpx2.Response:
    form = {"key": token, "next": "/battles/tides"}
    return await world.http.post("/login", data=form, headers=headers)


def field(page: str, name: str) -> str:
    [value] = set(re.findall(rf'name="{name}" value="([^"]*)"', page))
    return value


async def test_pages_have_the_forms_and_links_that_their_reader_may_use(world: World) -> None:
    await tell(world)
    forms = {"/": 'data-api="/v1/battles"', "/battles/tides": 'data-api="/v1/battles/tides/vote"'}
    for roles, may_send, may_administer in (
        (None, True, True),  # nobody needs a key yet, and whoever reads is on this machine
        ((Role.READ,), False, False),
        ((Role.READ, Role.SUBMIT, Role.VOTE), True, False),
        ((Role.ADMIN,), True, True),
    ):
        headers = {} if roles is None else bearer((await issued(world.database, *roles)).token)
        for path, form in forms.items():
            page = (await world.http.get(path, headers=headers)).text
            assert (form in page) is may_send, (roles, path)
            assert ("(administrators)" in page) is may_administer, (roles, path)
            assert ("nugget-form" in page) is (may_administer and path != "/"), (roles, path)


async def test_a_failed_battle_is_retried_on_its_page_by_administrators_and_others_are_told_so(
    world: World,
) -> None:
    await world.http.post("/v1/battles", json=submission())
    story = Story(battle())
    await world.happens(story.submitted(), story.failed(Stage.NUGGETIZER), story.failed(Stage.JUDGE))
    form = 'action="/battles/tides/retry"'
    for roles, text in (
        (None, form),  # nobody needs a key yet, and whoever reads is on this machine
        ((Role.READ,), "Administrators of the arena can retry it."),
        ((Role.READ, Role.SUBMIT), "can retry it, and so does sending the battle again."),
        ((Role.ADMIN,), form),
    ):
        headers = {} if roles is None else bearer((await issued(world.database, *roles)).token)
        page = (await world.http.get("/battles/tides", headers=headers)).text
        assert text in page, roles
        assert (form in page) is (text == form), roles
    await log_in(world, (await issued(world.database, Role.ADMIN)).token)
    page = (await world.http.get("/battles/tides", headers=HTML)).text
    forged = await world.http.post("/battles/tides/retry", data={"csrf": "x"})
    assert (forged.status_code, (await world.gateway.view("tides")).state.value) == (403, "failed")
    done = await world.http.post("/battles/tides/retry", data={"csrf": field(page, "csrf")})
    assert (done.status_code, done.headers["location"]) == (303, "/battles/tides")
    assert (await world.gateway.view("tides")).state.value == "running"
    assert form not in (await world.http.get("/battles/tides", headers=HTML)).text
    again = await world.http.post("/battles/tides/retry", data={"csrf": field(page, "csrf")})
    assert again.status_code == 303  # twice is once


async def test_a_person_logs_in_reads_edits_and_logs_out(world: World) -> None:
    await tell(world)
    key = await issued(world.database, Role.ADMIN)
    asked = await world.http.get("/battles/tides?x=1", headers=HTML)
    assert (asked.status_code, asked.headers["location"]) == (303, "/login?next=/battles/tides%3Fx%3D1")
    assert (await log_in(world, "wrong")).status_code == 401
    entered = await log_in(world, key.token)
    assert (entered.status_code, entered.headers["location"]) == (303, "/battles/tides")
    cookie = entered.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie  # this is plain HTTP
    page = (await world.http.get("/battles/tides", headers=HTML)).text
    form = {"version": "1", "author": "Ada", "reason": "It was wrong.", "new text": "The Sun helps."}
    forged = await world.http.post("/battles/tides/nuggets", data=form)
    assert forged.status_code == 403
    edited = await world.http.post("/battles/tides/nuggets", data=form | {"csrf": field(page, "csrf")})
    assert edited.status_code == 303
    voted = await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})
    assert voted.status_code == 403  # a browser sends the cookie unasked, so the token is needed as well
    header = {"x-csrf-token": field(page, "csrf")}
    voted = await world.http.post("/v1/battles/tides/vote", json={"vote": "a"}, headers=header)
    assert voted.status_code == 202
    stolen = dict(world.http.cookies)
    assert (await world.http.post("/logout", data={"csrf": "x"})).status_code == 403
    left = await world.http.post("/logout", data={"csrf": field(page, "csrf")})
    assert left.status_code == 303
    world.http.cookies.update(stolen)
    assert (await world.http.get("/battles/tides", headers=HTML)).status_code == 303
    actions = [entry.action for entry in await AuditLog(world.database).latest(9)]
    assert actions == ["log out", "vote", "edit nuggets", "log in"]


async def test_a_login_ends_with_its_key(world: World) -> None:
    key = await issued(world.database, Role.READ)
    await log_in(world, key.token)
    assert (await world.http.get("/", headers=HTML)).status_code == 200
    await ApiKeys(world.database).revoke(key.id, NOW)
    assert (await world.http.get("/", headers=HTML)).status_code == 303


async def test_a_login_leads_to_no_other_site(world: World) -> None:
    key = await issued(world.database, Role.READ)
    for target in ("https://evil.example/", "//evil.example", "/\\evil.example"):
        answer = await world.http.post("/login", data={"key": key.token, "next": target})
        assert answer.headers["location"] == "/"
    foreign = {"origin": "https://evil.example"}
    assert (await log_in(world, key.token, **foreign)).status_code == 403


async def test_readers_are_shown_no_form(world: World) -> None:
    await tell(world)
    await log_in(world, (await issued(world.database, Role.READ)).token)
    page = (await world.http.get("/battles/tides", headers=HTML)).text
    assert "nugget-form" not in page
    assert "Log out" in page


USER = {"x-auth-user": "ada@example.org"}


async def test_the_user_of_a_header_counts_only_from_a_trusted_proxy(bus: Bus, record: Database) -> None:
    await issued(record, Role.READ, Role.VOTE, proxy_user="ada@example.org")
    for network, status in (("127.0.0.1/32", 200), ("10.0.0.0/8", 401)):
        proxies = TrustedProxies((ip_network(network),), "x-auth-user")
        async with opened(bus, record, key_lifetime=0, proxies=proxies) as world:
            assert (await world.http.get("/v1/battles", headers=USER)).status_code == status
            spoofed = USER | {"x-forwarded-for": "10.0.0.1"}
            assert (await world.http.get("/v1/battles", headers=spoofed)).status_code == status
            unknown = await world.http.get("/v1/battles", headers={"x-auth-user": "eve"})
            assert unknown.status_code == 401
            vote = await world.http.post("/v1/battles/x/vote", json={"vote": "a"}, headers=USER)
            assert vote.status_code == (403 if status == 200 else 401)  # without the token of a page
    async with opened(bus, record, key_lifetime=0) as world:
        assert (await world.http.get("/v1/battles", headers=USER)).status_code == 401


async def test_behind_a_proxy_that_ends_tls_the_cookie_is_secure(bus: Bus, record: Database) -> None:
    key, https = await issued(record, Role.READ), {"x-forwarded-proto": "https"}
    async with opened(
        bus, record, key_lifetime=0, proxies=TrustedProxies((ip_network("127.0.0.1/32"),))
    ) as world:
        assert "secure" in (await log_in(world, key.token, **https)).headers["set-cookie"].lower()
    async with opened(bus, record, key_lifetime=0) as world:
        assert "secure" not in (await log_in(world, key.token, **https)).headers["set-cookie"].lower()


async def test_other_sites_use_the_api_and_frame_pages_only_where_they_are_listed(
    bus: Bus, record: Database
) -> None:
    preflight = {
        "origin": SITE,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
    }
    async with opened(
        bus, record, key_lifetime=0, sites=Sites((SITE,), ("https://portal.example.org",))
    ) as world:
        answer = await world.http.options("/v1/battles", headers=preflight)
        assert answer.headers["access-control-allow-origin"] == SITE
        assert "access-control-allow-credentials" not in answer.headers
        sent = await world.http.post("/v1/battles", json=submission(), headers={"origin": SITE})
        assert (sent.status_code, sent.headers["access-control-allow-origin"]) == (202, SITE)
        assert "link" in sent.headers["access-control-expose-headers"].split(", ")  # leads to the next page
        for foreign in ("https://evil.example", "http://arena.example.org", f"{SITE}:8443"):
            sent = await world.http.post("/v1/battles", json=submission(), headers={"origin": foreign})
            assert sent.status_code == 403
            read = await world.http.get("/v1/battles", headers={"origin": foreign})
            assert "access-control-allow-origin" not in read.headers
        policy = (await world.http.get("/")).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors https://portal.example.org")
        policy = (await world.http.get("/login")).headers["content-security-policy"]
        assert policy.endswith("frame-ancestors 'none'")
    async with opened(bus, record, key_lifetime=0) as world:
        assert "frame-ancestors 'none'" in (await world.http.get("/")).headers["content-security-policy"]
        answer = await world.http.options("/v1/battles", headers=preflight)
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    "wrong", ["*", "arena.example.org", "https://a.example/path", "https://a b", "https://x;y"]
)
def test_a_setting_that_is_no_origin_is_named(wrong: str) -> None:
    with pytest.raises(ValueError, match="is not an origin"):
        origins_of([SITE, wrong])


async def test_a_key_in_the_query_is_not_a_key(world: World) -> None:
    key = await issued(world.database, Role.READ)
    assert (await world.http.get("/v1/battles", params={"key": key.token})).status_code == 401
    assert (await world.http.get("/v1/battles", headers=bearer(key))).status_code == 200
