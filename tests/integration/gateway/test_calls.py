"""The model calls of a battle: over the API, as a page and by the command, for administrators alone."""

import asyncio
import base64
import json
import re
from dataclasses import replace

import pytest

from nuggetstream.client import AsyncClient, Forbidden, NotFound
from nuggetstream.domain.identity import content_hash
from services.runtime.bus import Bus
from services.runtime.llm.call_log import Outcome
from services.store.database import Database
from services.store.spend.call_log import DatabaseCallLog
from tests.e2e.processes import run_here
from tests.integration.gateway.world import Story, World, battle, opened, submission
from tests.stored import call_of

TOKEN = "a-token-of-administrators"
QUESTION = "Which <script>one</script>?"


async def called(world: World) -> None:
    """A battle with two calls."""
    await world.http.post("/v1/battles", json=submission())
    call = call_of(Story(battle()).submitted(), QUESTION)
    await DatabaseCallLog(world.database).add(
        [call, replace(call, stage="grader-x", outcome=Outcome.REFUSED)]
    )


async def test_calls_are_read_by_the_client_and_the_command(world: World) -> None:
    await called(world)
    url = str(world.http.base_url)
    async with AsyncClient(url) as client:
        first, second = await client.model_calls("tides")
        with pytest.raises(NotFound):
            await client.model_calls("nobody")
    assert (first.stage, first.outcome, second.stage) == ("judge", "unusable", "grader-x")
    assert battle().a.text in (first.prompt or [])[1].content
    code, output = await asyncio.to_thread(run_here, "calls", "tides", "--full", "--url", url)
    assert code == 0, output
    line = "judge  verdict  unusable  m at model.example  1.50 s: it is not JSON"
    assert line in output
    assert QUESTION in output
    selected = ("calls", "tides", "--stage", "grader-x", "--json", "--url", url)
    code, output = await asyncio.to_thread(run_here, *selected)
    assert [json.loads(line)["outcome"] for line in output.splitlines()] == ["refused"]


async def test_the_page_shows_prompts_as_text_and_the_battle_links_to_it(world: World) -> None:
    await called(world)
    page = await world.http.get("/battles/tides/calls")
    assert page.status_code == 200
    assert f"Trace <code>{content_hash('tides')[:32]}</code>" in page.text
    assert "Which &lt;script&gt;one&lt;/script&gt;?" in page.text
    assert "<script>one" not in page.text
    table = page.text[page.text.index("<tbody>") : page.text.index("</tbody>")]
    assert table.count('<rect class="value" x="0.0" width="100.0"') == 2
    assert re.findall(r'<a href="#call-(\d)">([^<]+)</a>', table) == [
        ("1", "judge: verdict"),
        ("2", "grader-x: verdict"),
    ]
    assert "1.50" in table
    assert 'href="/battles/tides/calls"' in (await world.http.get("/battles/tides")).text
    assert (await world.http.get("/battles/nobody/calls")).status_code == 404
    foreign = {"origin": "https://evil.example"}
    assert (await world.http.get("/battles/tides/calls", headers=foreign)).status_code == 403


def basic(password: str) -> dict[str, str]:
    return {"authorization": f"Basic {base64.b64encode(f'me:{password}'.encode()).decode()}"}


async def test_with_a_token_only_administrators_read_calls(bus: Bus, record: Database) -> None:
    async with opened(bus, record, admin_token=TOKEN) as world:
        await called(world)
        url, get = str(world.http.base_url), world.http.get
        async with AsyncClient(url) as nobody:
            with pytest.raises(Forbidden):
                await nobody.model_calls("tides")
        async with AsyncClient(url, headers={"authorization": f"Bearer {TOKEN}"}) as admin:
            assert len(await admin.model_calls("tides")) == 2
        asked = await get("/battles/tides/calls", headers={"accept": "text/html"})
        assert (asked.status_code, asked.headers["www-authenticate"][:5]) == (401, "Basic")
        for wrong in (basic(f"{TOKEN}x"), {"authorization": "Basic !"}, {"authorization": "Bearer x"}):
            assert (await get("/battles/tides/calls", headers=wrong)).status_code == 401
        assert (await get("/battles/tides/calls", headers=basic(TOKEN))).status_code == 200
        # A browser would send Basic authorization with the requests of other sites, too.
        assert (await get("/v1/battles/tides/calls", headers=basic(TOKEN))).status_code == 403
