"""A battle from its submission to the board, in the browser, on the whole platform."""

from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from nuggetstream.client import AsyncClient
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.llm.settings import LLMSettings
from tests.browser.reader import Reader

PAGE = (
    "The Moon pulls hardest on the side of the Earth that faces it, and the water there rises in a bulge. A "
    "second bulge rises on the far side, where the pull is weakest. The Earth turns beneath both bulges once "
    "a day, so most coasts meet two high tides."
)
BATTLE = {
    "arena": "sea",
    "query": "Why are there two high tides a day?",
    "a": {
        "system": "atlas",
        "text": "A second bulge rises on the far side, where the pull is weakest. The Earth turns beneath "
        "both bulges once a day, so most coasts meet two high tides. Tides were invented by sailors.",
        "sources": [{"url": "https://sea.example/tides", "text": PAGE}],
    },
    "b": {"system": "birch", "text": "The wind drives the water to the coast twice a day."},
}
SCORED = "document.querySelector('main').dataset.state === 'scored'"
HUMAN = "[...document.querySelectorAll('.verdicts article')].at(-1).querySelector('.big').textContent.trim()"
BOARD = "document.querySelector('[aria-labelledby=lens-human] .about strong').textContent"


@pytest.mark.timeout(180)
async def test_a_battle_is_watched_explained_and_voted_on(browser: Chrome, tmp_path: Path) -> None:
    options = tmp_path / "evaluators.toml"
    options.write_text("[citation_support]\nuncited = true\n", encoding="utf-8")
    pipeline = PipelineSettings(embedding_model="none", evaluator_options=options)
    choices = Choices(
        folder=tmp_path,
        pipeline=pipeline,
        fetch=FetchSettings(),
        llm=LLMSettings(),
        grace=2.0,
        evaluators=("citation_support",),
    )
    async with embedded(choices) as running, AsyncClient(running.url, patience=60) as client:
        reader = Reader(browser, running.url)
        submitted = await client.submit(BATTLE)
        await reader.opens(f"/battles/{submitted.battle_id}")
        await reader.runs("(window.sameDocument = true)")
        await reader.until(SCORED)
        assert await reader.texts(".steps .dot") == ["✓"] * 6
        passage = await reader.runs("document.querySelector('.grounds .place').getAttribute('href')")
        await reader.clicks(".rail details:has(.grounds .place) > summary")
        await reader.clicks(".rail details[open] .grounds .place")
        assert await reader.runs("document.querySelector('mark:target').id") == passage.removeprefix("#")
        assert await reader.runs("document.querySelector('mark:target').closest('details').open") is True
        assert await reader.runs("document.querySelector('mark:target').checkVisibility()") is True
        assert "Tides were invented by sailors." in "".join(await reader.texts(".answer.a mark.unsupported"))
        assert "model call" in (await reader.texts("#stages summary"))[0]
        await reader.until("document.querySelector('#checked-a') !== null || location.reload()")
        assert (await reader.texts("#checked-a summary"))[0].startswith("1 of 3 checked sentences without")
        await reader.clicks("#checked-a summary")
        assert "no source supports it" in (await reader.texts("#checked-a li"))[2]
        await reader.clicks("#checked-a summary")
        await reader.shoots("battle")

        assert await reader.runs(HUMAN) != "B"
        await client.vote(submitted.battle_id, "b")
        await reader.until(HUMAN, lambda text: text == "B")  # long after the end of the battle
        assert await reader.runs("window.sameDocument") is True
        await reader.opens("/leaderboard?arena=sea")
        await reader.until(
            f"document.querySelector('[aria-labelledby=lens-human]') && {BOARD} === '1' || location.reload()"
        )
        assert await reader.complaints() == []
