"""What the text of a page has of the passages that the answers cite."""

from dataclasses import replace

from nuggetstream.domain.battle import Battle, CitedPassage, Source
from nuggetstream.domain.event import BattleScraped, BattleSubmitted
from nuggetstream.domain.evidence import Page, PageRange
from nuggetstream.domain.identity import content_hash
from services.scraper.outcome import PageOutcome, Quality
from services.scraper.stage import Scraper
from services.store.content.blobs import Blobs
from services.store.database import Database
from tests import samples

TEXT = "Owls hear mice under the snow. They fly without a sound."
URL, GONE = "https://owls.example/", "https://gone.example/"


class Pages:
    """The web, with one page."""

    async def fetch(self, url: str, battle_id: str | None = None) -> PageOutcome:
        found = url == URL
        return PageOutcome(
            url=url,
            final_url=url,
            quality=Quality.OK if found else Quality.NOT_FOUND,
            detail="",
            http_status=200 if found else 404,
            content_type=None,
            title=None,
            text=TEXT if found else None,
            language=None,
            fetched_at=samples.NOON,
            elapsed_s=0.0,
            wire_bytes=0,
            decoded_bytes=0,
            redirects=0,
        )


async def scraped(record: Database, a: Source, b: Source) -> dict[str, Page]:
    fought = samples.battle()
    battle: Battle = replace(
        fought, a=replace(fought.a, sources=(a,)), b=replace(fought.b, sources=(b, Source(GONE)))
    )
    [event] = await Scraper(Pages(), Blobs(record))(BattleSubmitted("k", battle))
    assert isinstance(event, BattleScraped)
    assert event.battle == battle.without_source_texts()
    return {page.url: page for page in event.pages}


async def test_ranges_without_words_get_the_words_of_the_page(record: Database) -> None:
    ranges = (CitedPassage(None, 0, 30), CitedPassage(None, 31, len(TEXT)), CitedPassage(None, 31, 999))
    pages = await scraped(record, Source(URL).citing(ranges), Source(URL, start=0, end=30))
    assert pages[URL].ranges == (
        PageRange(0, 30, "Owls hear mice under the snow."),
        PageRange(31, len(TEXT), "They fly without a sound."),
        PageRange(31, 999, None),
    )
    assert pages[GONE].ranges == ()


async def test_words_are_looked_for_wherever_they_are_said_to_be(record: Database) -> None:
    there, missing = "hear mice under the SNOW", "They hoot at noon, as everybody knows."
    a = Source(URL, snippet=there, start=500, end=530)
    pages = await scraped(record, a, Source(URL, snippet=missing))
    assert (pages[URL].quoted, pages[URL].ranges) == ((content_hash(there),), ())


async def test_supplied_texts_are_looked_at_as_well(record: Database) -> None:
    a = Source("inline:1", text=TEXT)
    pages = await scraped(record, a, replace(a, text=None, start=31, end=40))
    assert pages["inline:1"].ranges == (PageRange(31, 40, "They fly"),)
