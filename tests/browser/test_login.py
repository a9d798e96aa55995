"""The pages of a platform with keys: a person logs in, reads and logs out."""

import pytest
from selenium.webdriver import Chrome

from services.access.callers import Role
from services.access.keys import NewKey
from services.store.database import Database
from tests.browser.reader import Reader
from tests.integration.gateway.access.samples import issued
from tests.integration.gateway.world import Story, World, battle


@pytest.fixture
async def key(record: Database) -> NewKey:
    """A key that was made before the platform started, which then needs one for everything."""
    return await issued(record, Role.READ)


async def test_a_person_logs_in_with_a_key_reads_and_logs_out(
    browser: Chrome, key: NewKey, world: World
) -> None:
    await world.happens(*Story(battle()).told())
    reader = Reader(browser, world)
    await reader.opens("/battles/tides")
    assert await reader.runs("location.pathname") == "/login"
    assert await reader.axe() == []
    for token, came in (
        ("wrong", "document.querySelector('[role=alert]')"),
        (key.token, "location.pathname === '/battles/tides' && document.querySelector('h1')"),
    ):
        await reader.runs("document.querySelector('[name=key]').focus()")
        await reader.presses(token, "\n")
        await reader.until(came)
    assert (await reader.texts("h1")) == ["Why are there two high tides a day?"]
    assert await reader.axe() == []
    await reader.clicks("form[action='/logout'] button")
    await reader.until("location.pathname", lambda now: now == "/login")
    await reader.opens("/")
    assert await reader.runs("location.pathname") == "/login"
