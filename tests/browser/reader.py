"""A reader of the web pages: a browser driven from another thread, since the server runs in this one."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from selenium.common.exceptions import JavascriptException, StaleElementReferenceException
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

from tests.integration.gateway.world import World

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
# Without what Swagger UI draws on the page of the API.
_AXE_FINDINGS = """const done = arguments[0];
axe.run({ exclude: [["#reference"]] }, { resultTypes: ["violations"] }).then((found) => done(
  found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html}`))));"""


def axe_findings(browser: Chrome) -> list[str]:
    """What axe-core finds wrong with the page that a browser shows, each with the rule and the element."""
    browser.execute_script(AXE.read_text(encoding="utf-8"))
    return list(browser.execute_async_script(_AXE_FINDINGS))


class Reader:
    """The browser, driven from another thread: the server lives in this one.

    Args:
        browser: The browser.
        site: What serves the pages, or its URL.
    """

    def __init__(self, browser: Chrome, site: World | str) -> None:
        self._browser = browser
        self._base = (site if isinstance(site, str) else str(site.http.base_url)).rstrip("/")

    async def opens(self, path: str) -> None:
        await asyncio.to_thread(self._browser.get, self._base + path)

    async def texts(self, selector: str) -> list[str]:
        """The visible texts of elements, at one time: read again if the page replaced one meanwhile."""
        async with asyncio.timeout(90):
            while True:
                try:
                    found = await asyncio.to_thread(self._browser.find_elements, By.CSS_SELECTOR, selector)
                    return [await asyncio.to_thread(getattr, element, "text") for element in found]
                except StaleElementReferenceException:
                    continue

    async def one(self, selector: str) -> WebElement:
        return await asyncio.to_thread(self._browser.find_element, By.CSS_SELECTOR, selector)

    async def clicks(self, selector: str) -> None:
        await asyncio.to_thread((await self.one(selector)).click)

    async def presses(self, *keys: str) -> None:
        """Press keys, whatever has the focus."""
        focused = await asyncio.to_thread(lambda: self._browser.switch_to.active_element)
        await asyncio.to_thread(focused.send_keys, *keys)

    async def shoots(self, name: str) -> Path:
        """Keep a picture of the whole page among the screenshots."""
        options = {"captureBeyondViewport": True, "format": "png"}
        taken = await asyncio.to_thread(self._browser.execute_cdp_cmd, "Page.captureScreenshot", options)
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    async def runs(self, script: str) -> Any:
        return await asyncio.to_thread(self._browser.execute_script, f"return {script}")

    async def until(self, script: str, holds: Callable[[Any], bool] = bool) -> Any:
        """The first value of a script that holds; a script that fails is run again, as when a page loads."""
        found: Any = None
        try:
            async with asyncio.timeout(90):
                while True:
                    try:
                        found = await self.runs(script)
                        if holds(found):
                            return found
                    except JavascriptException as error:
                        found = error
                    await asyncio.sleep(0.02)
        except TimeoutError:
            raise AssertionError(f"still {found!r} after 30 seconds: {script}") from None

    async def complaints(self) -> list[str]:
        """What the console said, warnings included."""
        entries = await asyncio.to_thread(self._browser.get_log, "browser")
        return [entry["message"] for entry in entries]

    async def axe(self) -> list[str]:
        """What axe-core finds wrong with the page, each with the rule and the element."""
        return await asyncio.to_thread(axe_findings, self._browser)

    @asynccontextmanager
    async def width(self, pixels: int) -> AsyncIterator[None]:
        """Another width of the window inside the block."""
        await asyncio.to_thread(self._browser.set_window_size, pixels, 900)
        try:
            yield
        finally:
            await asyncio.to_thread(self._browser.set_window_size, 1280, 900)

    @asynccontextmanager
    async def colour_scheme(self, name: str) -> AsyncIterator[None]:
        """A reader who prefers light or dark pages, inside the block."""
        await self._emulate([{"name": "prefers-color-scheme", "value": name}])
        try:
            yield
        finally:
            await self._emulate([])

    async def _emulate(self, features: list[dict[str, str]]) -> None:
        command = "Emulation.setEmulatedMedia"
        await asyncio.to_thread(self._browser.execute_cdp_cmd, command, {"features": features})
