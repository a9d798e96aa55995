"""Failures in the browser of an administrator: found by reason, retried, discarded."""

import asyncio
import base64

import httpx2
from selenium.webdriver import Chrome

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus
from services.store.database import Database
from tests.browser.reader import Reader
from tests.integration.gateway.world import Story, World, battle, opened, submission

TOKEN = "a-token-of-administrators"


async def failed(world: World, name: str, reason: Reason = Reason.LLM_UNAVAILABLE) -> None:
    story = Story(battle(id=name))
    await world.http.post("/v1/battles", json=submission(id=name))
    await world.happens(story.submitted(), story.retrieved(), story.judged())
    await world.happens(story.failed(Stage.NUGGETIZER, reason))


async def test_an_administrator_finds_retries_and_discards_failures(browser: Chrome, world: World) -> None:
    await failed(world, "one")
    await failed(world, "two", Reason.CONTENT_FILTERED)
    reader = Reader(browser, world)
    await reader.opens("/failures?reason=deadline")
    assert await reader.texts(".empty") == ["No failure of this kind."]
    await reader.opens("/failures?reason=content_filtered")
    assert (await reader.texts("tbody td"))[1].startswith("The provider of the model filtered the text")
    assert await reader.texts("tbody td a") == ["two"]
    await asyncio.to_thread((await reader.one("button[name=discard]")).click)
    await reader.until("document.readyState === 'complete' && location.search.includes('discarded')")
    assert await reader.texts("[role=status]") == ["Discarded."]
    assert await reader.texts(".empty") == ["No failure of this kind."]
    await reader.opens("/failures")
    assert await reader.texts("tbody td a") == ["one"]
    await asyncio.to_thread((await reader.one("button[name=retry]")).click)
    await reader.until("document.readyState === 'complete' && location.search.includes('retried')")
    assert (await world.gateway.view("one")).state.value == "running"
    assert await reader.texts(".empty") == ["Nothing failed."]
    assert await reader.complaints() == []


async def test_only_who_knows_the_token_sees_the_page_and_acts(bus: Bus, record: Database) -> None:
    async with opened(bus, record, admin_token=TOKEN) as world:
        await failed(world, "one")
        asked = await world.http.get("/failures")
        assert (asked.status_code, "Basic" in asked.headers["www-authenticate"]) == (401, True)
        credentials = base64.b64encode(f"x:{TOKEN}".encode()).decode()
        page = await world.http.get("/failures", headers={"authorization": f"Basic {credentials}"})
        assert 'name="token"' in page.text
        (entry,) = (
            await world.http.get("/v1/admin/failures", headers={"authorization": f"Bearer {TOKEN}"})
        ).json()
        wrong = await act(world, retry=entry["id"], token="wrong")
        assert (wrong.status_code, (await world.gateway.view("one")).state.value) == (403, "partial")
        assert (await act(world, retry="nothing", token=TOKEN)).status_code == 404
        assert (await act(world, token=TOKEN)).status_code == 422
        right = await act(world, retry=entry["id"], token=TOKEN)
        assert (right.status_code, right.headers["location"]) == (303, "/failures?result=retried")
        again = await act(world, discard=entry["id"], token=TOKEN)
        assert again.headers["location"] == "/failures?result=unchanged"


async def act(world: World, **fields: str) -> httpx2.Response:
    return await world.http.post("/failures", data=fields, follow_redirects=False)
