"""A detected language counts for boards where none is declared, and is never taken for a declared one."""

from dataclasses import replace
from datetime import UTC, datetime

from sqlalchemy import update

from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.text.languages import DetectedLanguage
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.database import Database
from services.store.outcomes.recount import recount
from services.store.tables import battles
from tests.integration.store.test_slices import HUMAN
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes

GERMAN = DetectedLanguage("de", 0.875)
IN_GERMAN = Slice(language="de")
SINCE = Slice(language="de", since=datetime(2026, 1, 1, tzinfo=UTC))


async def receive(
    database: Database, name: str, declared: str | None, detected: DetectedLanguage | None
) -> None:
    new = NewBattle(replace(battle(name), language=declared), b"", detected)
    await Battles(database).accept_all([new], NOON)
    await WrittenOutcomes(database).put(replace(HUMAN, battle_id=name))


async def test_boards_count_it_and_say_how_often(database: Database) -> None:
    await receive(database, "declared", "de", None)
    await receive(database, "detected", None, GERMAN)
    await receive(database, "unknown", None, None)
    await receive(database, "both", "en", GERMAN)
    stored = Battles(database)
    for selection in (IN_GERMAN, SINCE):
        assert await stored.received("default", selection) == 2
        assert await stored.detected("default", selection) == 1
        assert (await WrittenOutcomes(database).lens_counts("default", Lens.HUMAN, selection)).outcomes == 2
    assert await stored.detected("default", Slice(language="en")) == 0
    assert await stored.detected("default") == 0
    rows = await stored.get_all(["declared", "detected", "unknown", "both"])
    assert {name: (row.language, row.detected) for name, row in rows.items()} == {
        "declared": ("de", None),
        "detected": (None, GERMAN),
        "unknown": (None, None),
        "both": ("en", None),
    }


async def test_the_counter_of_detected_languages_can_be_counted_again_and_shrinks_with_a_deletion(
    database: Database,
) -> None:
    for name in ("b1", "b2"):
        await receive(database, name, None, GERMAN)
    assert not any((await recount(database, repair=False)).values())
    async with database.transaction() as tx:
        await tx.execute(update(battles).values(ended_at=NOON))
    await Deletions(database).delete("b1", NOON)
    assert not any((await recount(database, repair=False)).values())
    assert await Battles(database).detected("default", IN_GERMAN) == 1
