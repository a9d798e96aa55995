"""The pages of a battle, also when it is scraped again."""

from dataclasses import replace
from datetime import timedelta

from nuggetstream.domain.battle import Side
from services.store.content.chunks import Sources, StoredSource
from services.store.database import Database
from tests.samples import NOON

FIRST = StoredSource("https://a.example/", "Tea", "old", NOON, (Side.A,))
LATER = StoredSource(FIRST.url, "Tea and water", "new", NOON + timedelta(hours=1), (Side.A, Side.B))
SUPPLIED = replace(FIRST, title=None, content_hash="sent", fetched_at=None)


async def test_a_page_that_changed_until_a_battle_is_scraped_again_replaces_the_one_before(
    database: Database,
) -> None:
    sources = Sources(database)
    await sources.add("b1", [FIRST])
    await sources.add("b2", [FIRST])
    await sources.add("b1", [LATER])
    assert await sources.of_battle("b1") == [LATER]
    assert await sources.of_battle("b1", Side.B) == [LATER]
    assert await sources.of_battle("b2") == [FIRST]


async def test_an_earlier_message_that_is_delivered_again_brings_no_earlier_page_back(
    database: Database,
) -> None:
    sources = Sources(database)
    for source in (LATER, FIRST, LATER):
        await sources.add("b1", [source])
        assert await sources.of_battle("b1") == [LATER]


async def test_a_page_that_is_supplied_replaces_a_fetched_one_and_the_reverse(database: Database) -> None:
    sources = Sources(database)
    for source in (FIRST, SUPPLIED, FIRST):
        await sources.add("b1", [source])
        assert await sources.of_battle("b1") == [source]
