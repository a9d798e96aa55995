"""A battle in a frame: the page, its tokens, and votes with them."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.nugget import Grounding, Grounds
from services.access.callers import Role
from services.access.limits import FRAME_VOTES
from services.access.sites import Sites
from services.runtime.bus import Bus
from services.store.access.api_keys import ApiKeys
from services.store.database import Database
from tests.integration.gateway.access.samples import FORM, bearer, issued
from tests.integration.gateway.world import NOW, NUGGETS, Story, World, battle, opened, submission


@pytest.fixture
async def guarded(bus: Bus, record: Database) -> AsyncIterator[World]:
    """A gateway that remembers nothing of keys."""
    async with opened(bus, record, key_lifetime=0) as world:
        yield world


HTML = {"accept": "text/html"}
SITE = "https://arena.example.org"


async def tell(world: World, **headers: str) -> None:
    await world.http.post("/v1/battles", json=submission(), headers=headers)
    await world.happens(*Story(battle()).told())


async def made(world: World, headers: dict[str, str] | None = None, **wanted: Any) -> dict[str, Any]:
    reply = await world.http.post("/v1/battles/tides/embed-token", json=wanted, headers=headers or {})
    assert reply.status_code == 201, reply.text
    return dict(reply.json())


async def test_the_page_shows_verdict_reasons_and_nuggets_to_allowed_sites_alone(
    bus: Bus, record: Database
) -> None:
    async with opened(bus, record, sites=Sites((), (SITE,))) as world:
        await tell(world)
        page = await world.http.get("/embed/battles/tides")
        assert "Nuggets and the judge prefer answer A (atlas)." in page.text
        assert "Two bulges of water rise." in page.text
        assert "Only A states" in page.text
        policy = page.headers["content-security-policy"]
        assert policy.endswith(f"; frame-ancestors {SITE}")
        assert "script-src 'self'; style-src 'self'" in policy
        assert "<form" not in page.text  # without a token nobody votes
        widget = await world.http.get("/embed/widget.js")
        assert widget.headers["content-type"].startswith("text/javascript")
        assert (await world.http.get("/embed/battles/nobody")).status_code == 404


async def test_claims_that_no_source_confirms_are_apart_from_the_facts(world: World) -> None:
    facts, claim = NUGGETS[:3], NUGGETS[3]
    grounded = tuple(replace(each, grounds=Grounds(Grounding.GROUNDED)) for each in facts)
    listed = (*grounded, replace(claim, grounds=Grounds(Grounding.ANSWER_ONLY)))
    story = Story(battle())
    assigned = story.assigned()
    assigned = replace(assigned, nugget_list=replace(assigned.nugget_list, nuggets=listed))
    await world.happens(*story.told()[:4], story.nuggetized(listed), assigned, story.judged())
    page = (await world.http.get("/embed/battles/tides")).text
    assert "The facts a good answer needs (3), and 1 claim that no source confirms</summary>" in page
    before, _, after = page.partition("An answer that does not make them misses no known fact.")
    assert claim.text in after
    assert "does not say it" in after
    assert "misses it" not in after
    assert facts[0].text in before


async def test_no_site_may_frame_the_page_unless_it_is_configured(world: World) -> None:
    await tell(world)
    page = await world.http.get("/embed/battles/tides")
    assert page.headers["content-security-policy"].endswith("frame-ancestors 'none'")


async def test_a_token_for_voting_shows_buttons_and_its_vote_counts(world: World) -> None:
    await tell(world)
    reading = await made(world)
    assert "<form" not in (await world.http.get(reading["path"])).text
    voting = await made(world, vote=True)
    assert 'value="both_bad"' in (await world.http.get(voting["path"])).text
    path, _, query = voting["path"].partition("?")
    sent = await world.http.post(f"{path}/vote?{query}", content=b"vote=b", headers=FORM)
    assert sent.status_code == 303
    after = await world.http.get(sent.headers["location"])
    assert "Your vote: B is better." in after.text
    votes = [event for event in await world.published() if type(event).__name__ == "BattleVoted"]
    assert [vote.vote.value for vote in votes] == ["b"]  # type: ignore[union-attr]
    wrong = await world.http.post(f"{path}/vote?{query}", content=b"vote=c", headers=FORM)
    assert wrong.status_code == 422


async def test_a_token_is_for_its_battle_and_ends_with_its_time_and_its_key(
    guarded: World,
) -> None:
    world = guarded
    key = await issued(world.database, Role.READ, Role.VOTE)
    sender = await issued(world.database, Role.SUBMIT)
    await tell(world, **bearer(sender))
    await world.http.post("/v1/battles", json=submission(id="other"), headers=bearer(sender))
    assert (
        await world.http.get("/embed/battles/tides", headers=HTML)
    ).status_code == 401  # no login in a frame
    voting = await made(world, bearer(key), vote=True)
    path, token = voting["path"], voting["token"]
    assert (await world.http.get(path)).status_code == 200
    other = await world.http.get("/embed/battles/other", params={"token": token})
    assert other.status_code == 401
    assert (await world.http.get("/v1/battles/tides", params={"token": token})).status_code == 401
    until, _, rest = token.partition(".")
    later = f"{int(until) + 60}.{rest}"
    assert (await world.http.get("/embed/battles/tides", params={"token": later})).status_code == 401
    reading = (await made(world, bearer(key)))["token"]
    forged = reading.replace(".read.", ".vote.")
    for wrong, status in ((reading, 403), (forged, 401), ("", 401), ("x", 401)):
        sent = await world.http.post(
            "/embed/battles/tides/vote", params={"token": wrong}, content=b"vote=a", headers=FORM
        )
        assert sent.status_code == status, wrong
    await ApiKeys(world.database).revoke(key.id, NOW)
    assert (await world.http.get(path)).status_code == 401


async def test_a_token_follows_the_events_of_its_battle_alone(bus: Bus, record: Database) -> None:
    async with opened(bus, record, key_lifetime=0, sites=Sites((SITE,), ())) as world:
        key = await issued(world.database, Role.READ)
        sender = await issued(world.database, Role.SUBMIT)
        await tell(world, **bearer(sender))
        await world.http.post("/v1/battles", json=submission(id="other"), headers=bearer(sender))
        made_for = await made(world, bearer(key))
        token, path = {"token": made_for["token"]}, "/embed/battles/tides/events"
        assert (
            "data-events=" + f'"{path}?token={made_for["token"]}"'
            in (await world.http.get(made_for["path"])).text
        )
        stream = await world.http.get(path, params=token, headers={"origin": SITE})
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert stream.headers["access-control-allow-origin"] == SITE
        kinds = [line.split()[1] for line in stream.text.splitlines() if line.startswith("event:")]
        assert (kinds[0], kinds[-1]) == ("submitted", "ended")
        seen = {"last-event-id": str(len(kinds) - 1)}  # the end has no number
        assert (await world.http.get(path, params=token, headers=seen)).status_code == 204
        foreign = await world.http.get(path, params=token, headers={"origin": "https://other.example"})
        assert "access-control-allow-origin" not in foreign.headers
        other = await world.http.get("/embed/battles/other/events", params=token)
        assert other.status_code == 401
        assert (await world.http.get(path)).status_code == 401
        assert (await world.http.get("/v1/battles/tides/events", params=token)).status_code == 401
        await ApiKeys(world.database).revoke(key.id, NOW)
        assert (await world.http.get(path, params=token)).status_code == 401


async def test_who_may_not_vote_makes_no_token_for_voting(guarded: World) -> None:
    world = guarded
    reader = await issued(world.database, Role.READ)
    stranger = await issued(world.database, Role.READ, Role.VOTE, arenas=("abroad",))
    await tell(world, **bearer(await issued(world.database, Role.SUBMIT)))
    path = "/v1/battles/tides/embed-token"
    refused = await world.http.post(path, json={"vote": True}, headers=bearer(reader))
    assert refused.status_code == 403
    assert (await world.http.post(path, headers=bearer(stranger))).status_code == 404
    too_long = await world.http.post(path, json={"minutes": 100_000}, headers=bearer(reader))
    assert too_long.status_code == 422


async def test_a_frame_has_the_limit_of_its_key_without_using_it_up(guarded: World) -> None:
    world = guarded
    key = await issued(world.database, Role.READ, per_minute=3)
    await tell(world, **bearer(await issued(world.database, Role.SUBMIT)))
    frame = (await made(world, bearer(key)))["path"]
    shown = [await world.http.get(frame) for _ in range(4)]
    assert [reply.status_code for reply in shown] == [200, 200, 200, 429]
    assert 1 <= int(shown[-1].headers["retry-after"]) <= 20
    assert (await world.http.get("/v1/battles/tides", headers=bearer(key))).status_code == 200


async def test_votes_with_tokens_are_bounded_for_each_battle(world: World) -> None:
    await tell(world)
    await world.http.post("/v1/battles", json=submission(id="other"))
    path, _, query = (await made(world, vote=True))["path"].partition("?")
    target = f"{path}/vote?{query}"
    sent = [await world.http.post(target, content=b"vote=b", headers=FORM) for _ in range(FRAME_VOTES + 1)]
    assert [reply.status_code for reply in sent] == [303] * FRAME_VOTES + [429]
    other = await world.http.post("/v1/battles/other/embed-token", json={"vote": True})
    path, _, query = other.json()["path"].partition("?")
    sent = [await world.http.post(f"{path}/vote?{query}", content=b"vote=a", headers=FORM)]
    assert [reply.status_code for reply in sent] == [303]
    assert (await world.http.post("/v1/battles/tides/vote", json={"vote": "a"})).status_code == 202
