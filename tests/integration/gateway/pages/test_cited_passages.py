"""Cited passages from the door to the page: found in the page, not found, and of a page that was not read."""

import re
from dataclasses import replace
from typing import Any

from nuggetstream.domain import event as events
from nuggetstream.domain.evidence import PageRange, PageState
from nuggetstream.domain.identity import content_hash
from nuggetstream.nuggets.grounding import with_grounds
from tests.integration.gateway.world import GONE, NOW, NUGGETS, TIDES, Story, World, battle, submission

MOON = "https://example.org/moon"
READ = "Two bulges of water rise on opposite sides of the Earth."
GONE_SAYS = "The Sun causes spring tides twice a month."
SOURCES_A = [
    {"url": TIDES, "title": "Tides", "cited_text": READ, "start_char_index": 1200, "end_char_index": 1256},
    {"url": GONE, "snippet": GONE_SAYS, "passages": [{"start": 4, "end": 8}]},
]
CHEESE = "The Moon is made of green cheese, as all know."
FURTHER = "The Moon moves away from the Earth by 38 millimetres a year."
SOURCES_B = [
    {"url": MOON, "title": "The Moon", "snippet": CHEESE, "passages": [{"snippet": FURTHER}]},
    {"url": MOON, "start": 10, "end": 20},
    {"url": MOON, "start": 9_000, "end": 9_010},
]


def sent() -> dict[str, Any]:
    plain = submission()
    return submission(a=plain["a"] | {"sources": SOURCES_A}, b=plain["b"] | {"sources": SOURCES_B})


def told() -> list[events.BattleEvent]:
    story = Story(battle(**{side: sent()[side] for side in "ab"}))
    ranges = (PageRange(10, 20, "<b>tides</b>"), PageRange(9_000, 9_010, None))
    quoting = {"ranges": ranges, "quoted": (content_hash(FURTHER),)}
    pages = tuple(replace(page, **quoting) if page.url == MOON else page for page in story.pages)
    scraped, retrieved = replace(story.scraped(), pages=pages), story.retrieved()
    first, second = retrieved.evidence
    evidence = (replace(first, text=f"Before. {READ} After."), second)
    told = replace(retrieved, pages=pages, evidence=evidence)
    return [story.submitted(), scraped, story.indexed(), told]


async def test_cited_passages_are_kept_and_shown_with_what_the_page_says(world: World) -> None:
    accepted = await world.http.post("/v1/battles", json=sent())
    assert accepted.status_code == 202
    [published] = [event for event in await world.published() if isinstance(event, events.BattleSubmitted)]
    assert [source.snippet for source in published.battle.a.sources] == [READ, GONE_SAYS]

    pending = (await world.http.get("/v1/battles/tides")).json()
    assert pending["a"]["sources"][0]["cited"] == [
        {"text": READ, "start": 1200, "end": 1256, "state": "unchecked", "chunk_ids": [], "page_text": None}
    ]

    await world.happens(*told())
    view = (await world.http.get("/v1/battles/tides")).json()
    cited = [each for side in "ab" for source in view[side]["sources"] for each in source["cited"]]
    assert [(each["state"], each["chunk_ids"], each["page_text"]) for each in cited] == [
        ("found", ["chunk0"], None), ("unchecked", [], None), ("unchecked", [], None),
        ("not_found", [], None), ("found", [], None), ("found", [], "<b>tides</b>"),
        ("not_located", [], None),
    ]  # fmt: skip
    assert [chunk["quoted_by"] for chunk in view["evidence"]] == [["a"], []]

    page = re.sub(r"\s+", " ", (await world.http.get("/battles/tides")).text)
    assert f'<blockquote dir="auto">{READ}</blockquote>' in page
    assert "characters 1,200 to 1,256 of the page as the system read it: found in the page" in page
    assert 'in <a href="#chunk-1">chunk 1</a>' in page
    assert page.count("cited passage of A") == 1
    assert (
        "the words of whoever sent the battle; the page could not be read, so they are no evidence." in page
    )
    assert "the words of whoever sent the battle; the page that was read does not have them." in page
    assert f'<blockquote dir="auto">{FURTHER}</blockquote>' in page
    assert "found in the page, in a part that is not among the evidence." in page
    assert '<blockquote dir="auto">&lt;b&gt;tides&lt;/b&gt;</blockquote>' in page
    assert (
        "characters 10 to 20 of the page as the system read it. No words came with the range; these" in page
    )
    assert "no words came with the range, and the text that was read here is shorter." in page
    assert "no words came with the range, and the page could not be read." in page


async def test_a_snippet_of_a_page_that_was_not_read_grounds_nothing() -> None:
    *_, retrieved = told()
    assert isinstance(retrieved, events.BattleRetrieved)
    assert [page.state for page in retrieved.pages if page.url == GONE] == [PageState.REJECTED]
    sun = replace(NUGGETS[3], provenance=())
    [nugget] = with_grounds([replace(sun, text=GONE_SAYS)], retrieved.evidence, retrieved.battle)
    assert nugget.grounds is None or nugget.grounds.grounding.value != "grounded"
    assert all(item.fetched_at == NOW for item in retrieved.evidence)
