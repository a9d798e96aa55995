"""A real browser, where there is one: CHROMIUM or `chromium` on PATH, with its chromedriver."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator

import pytest
from selenium import webdriver

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import World, opened

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--window-size=1280,900",
)


def _found(variable: str, *names: str) -> str | None:
    return os.environ.get(variable) or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture
def browser(chrome: webdriver.Chrome) -> webdriver.Chrome:
    """The browser, whose console says nothing of earlier tests."""
    chrome.get("about:blank")  # the page of an earlier test asks its server for news, and that is gone
    chrome.get_log("browser")
    return chrome


@pytest.fixture(scope="session")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    chromium = _found("CHROMIUM", "chromium", "chromium-browser", "google-chrome")
    driver = _found("CHROMEDRIVER", "chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no browser: install chromium and chromedriver, or set CHROMIUM and CHROMEDRIVER")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    started = webdriver.Chrome(options, webdriver.ChromeService(driver))
    started.set_page_load_timeout(30)
    started.set_script_timeout(120)  # axe on the largest page, beside busy processes
    yield started
    started.quit()


@pytest.fixture
async def world(bus: Bus, record: Database) -> AsyncIterator[World]:
    async with opened(bus, record) as world:
        yield world
