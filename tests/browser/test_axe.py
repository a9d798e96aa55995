"""axe-core, run in the browser on every page: it finds nothing, except what is broken on purpose."""

import hashlib
import re

import pytest
from selenium.webdriver import Chrome

from tests.browser.reader import AXE, Reader
from tests.browser.test_accessible_pages import PAGES, PHONE, UNFOLD, everything
from tests.integration.gateway.world import World


def test_axe_is_the_file_that_its_table_describes() -> None:
    table = (AXE.parent / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"`([0-9a-f]{64})`", table) == [hashlib.sha256(AXE.read_bytes()).hexdigest()]
    assert f"| {re.findall(r'axe v([0-9.]+)', AXE.read_text(encoding='utf-8'))[0]} |" in table


@pytest.mark.parametrize("width", [1280, pytest.param(PHONE, marks=pytest.mark.full)])
async def test_axe_finds_nothing(browser: Chrome, world: World, width: int) -> None:
    await everything(world)
    reader = Reader(browser, world)
    async with reader.width(width):
        for path in PAGES:
            await reader.opens(path)
            await reader.runs(UNFOLD)
            for scheme in ("light", "dark") if width > PHONE else ("light",):  # colours have no width
                async with reader.colour_scheme(scheme):
                    assert await reader.axe() == [], (path, scheme)
    assert await reader.runs("document.documentElement.lang = ''") == ""
    assert [finding.split(":")[0] for finding in await reader.axe()] == ["html-has-lang"]
