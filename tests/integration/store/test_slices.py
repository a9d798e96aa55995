"""Counts of some battles only, and of two lenses at once, on both databases."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from sqlalchemy import event, select, text

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.counts import JointCount, PairCount
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.slices import conditions_of
from services.store.tables import battles
from tests.databases import engines_of
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes, pair_counts

HUMAN = Outcome("b1", "human", Lens.HUMAN, "default", "left", "right", Vote.A, None, NOON)


async def receive(
    database: Database, name: str, language: str = "", tags: Sequence[str] = (), at: datetime = NOON
) -> None:
    """A battle with a human vote for A."""
    sent = replace(battle(name), language=language, tags=tuple(tags))
    await Battles(database).accept(sent, b"", at)
    await WrittenOutcomes(database).put(replace(HUMAN, battle_id=name))


async def found(database: Database, among: Slice) -> tuple[int, int, int]:
    """Outcomes counted, battles decided, battles received."""
    outcomes = WrittenOutcomes(database)
    counts = await pair_counts(database, "default", Lens.HUMAN, among)
    decided = (await outcomes.lens_counts("default", Lens.HUMAN, among)).decided
    return sum(cell.count for cell in counts), decided, await Battles(database).received("default", among)


async def test_a_language_is_matched_exactly(database: Database) -> None:
    for name, language in (("b1", "en"), ("b2", "en"), ("b3", "en-GB"), ("b4", "")):
        await receive(database, name, language)
    assert await found(database, Slice(language="en")) == (2, 2, 2)
    assert await found(database, Slice(language="EN")) == (0, 0, 0)
    assert await found(database, Slice(language="")) == (1, 1, 1)
    assert await found(database, Slice()) == (4, 4, 4)


@pytest.mark.parametrize("tag", ["category:science", 'say "no"', "日本\\語", "50%_of"])
async def test_a_tag_is_the_whole_tag(database: Database, tag: str) -> None:
    await receive(database, "b1", tags=["other", tag])
    await receive(database, "b2", tags=[f"{tag} ", f"not {tag}"])
    await receive(database, "b3")
    assert await found(database, Slice(tags=(tag,))) == (1, 1, 1)


async def test_battles_with_a_tag_are_found_by_an_index(postgres: Database) -> None:
    await receive(postgres, "b1", "en", tags=["x", "y"])
    query = select(battles.c.id).where(*conditions_of(Slice(language="en", tags=("x", "y")), sqlite=False))

    def explain(_c: Any, _cursor: Any, statement: str, values: Any, _context: Any, _many: bool) -> Any:
        return f"EXPLAIN {statement}", values

    async with postgres.transaction() as tx:
        assert list(await tx.scalars(query)) == ["b1"]
        await tx.execute(text("SET LOCAL enable_seqscan = off"))
        event.listen(postgres.engine.sync_engine, "before_cursor_execute", explain, retval=True)
        plan = "\n".join(await tx.scalars(query))
        event.remove(postgres.engine.sync_engine, "before_cursor_execute", explain)
    assert "ix_battles_tags" in plan


async def test_a_slice_of_two_conditions_reads_its_rows_once(database: Database) -> None:
    await receive(database, "b1", "en", tags=["x"])
    reads = list[str]()

    def remember(_c: Any, _cursor: Any, statement: str, _v: Any, _context: Any, _many: bool) -> None:
        reads.extend([statement] if "FROM outcomes" in statement else [])

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)

    counts = await WrittenOutcomes(database).lens_counts(
        "default", Lens.HUMAN, Slice(language="en", tags=("x",))
    )
    assert (counts.outcomes, counts.decided) == (1, 1)
    assert len(reads) == 1


async def test_a_battle_has_all_the_tags_asked_for(database: Database) -> None:
    await receive(database, "b1", tags=["x", "y", "z"])
    await receive(database, "b2", tags=["x"])
    assert await found(database, Slice(tags=("x", "y"))) == (1, 1, 1)
    assert await found(database, Slice(tags=("x",))) == (2, 2, 2)
    assert await found(database, Slice(tags=("y", "nothing"))) == (0, 0, 0)


async def test_time_runs_from_since_to_just_before_until(database: Database) -> None:
    for number in range(4):
        await receive(database, f"b{number}", at=NOON + timedelta(minutes=number))
    first, third = NOON + timedelta(minutes=1), NOON + timedelta(minutes=3)
    assert await found(database, Slice(since=first, until=third)) == (2, 2, 2)
    tokyo = first.astimezone(timezone(timedelta(hours=9)))
    assert await found(database, Slice(since=tokyo)) == (3, 3, 3)
    assert await found(database, Slice(until=NOON)) == (0, 0, 0)


async def test_conditions_hold_together(database: Database) -> None:
    await receive(database, "b1", "en", ["x"])
    await receive(database, "b2", "de", ["x"])
    await receive(database, "b3", "en", ["x"], NOON + timedelta(days=1))
    assert await found(database, Slice("en", ("x",), until=NOON + timedelta(hours=1))) == (1, 1, 1)


async def test_what_is_received_is_counted_by_arena(database: Database) -> None:
    await Battles(database).accept(battle("b1"), b"", NOON)
    await Battles(database).accept(battle("b2", arena="elsewhere"), b"", NOON)
    assert await Battles(database).received("default") == 1
    assert await Battles(database).received("nowhere") == 0


async def test_a_system_against_itself_is_no_outcome(database: Database) -> None:
    await WrittenOutcomes(database).put(replace(HUMAN, system_b="left"))
    assert await pair_counts(database, "default", Lens.HUMAN) == []
    assert (await WrittenOutcomes(database).lens_counts("default", Lens.HUMAN)).decided == 0
    assert await WrittenOutcomes(database).joint_counts("default", Lens.HUMAN, Lens.JUDGE) == []


async def say(database: Database, name: str, lens: Lens, winner: Vote, source: str = "") -> None:
    said = replace(HUMAN, battle_id=name, lens=lens, source=source or lens.value, winner=winner)
    await WrittenOutcomes(database).put(said)


async def test_two_lenses_are_counted_over_the_same_battles(database: Database) -> None:
    for name in ("b1", "b2"):
        await say(database, name, Lens.HUMAN, Vote.A)
        await say(database, name, Lens.NUGGET, Vote.TIE)
    await say(database, "b3", Lens.HUMAN, Vote.B)
    await say(database, "b4", Lens.NUGGET, Vote.B)
    await say(database, "b5", Lens.JUDGE, Vote.A)
    counts = await WrittenOutcomes(database).joint_counts("default", Lens.HUMAN, Lens.NUGGET)
    assert set(counts) == {
        JointCount("left", "right", Vote.A, Vote.TIE, 2),
        JointCount("left", "right", Vote.B, None, 1),
        JointCount("left", "right", None, Vote.B, 1),
    }
    assert len(counts) == 3


async def test_of_two_judges_the_first_by_name_speaks_for_the_battle(database: Database) -> None:
    await say(database, "b1", Lens.HUMAN, Vote.A)
    await say(database, "b1", Lens.JUDGE, Vote.A, "judge:strict")
    await say(database, "b1", Lens.JUDGE, Vote.TIE, "judge:kind")
    counts = await WrittenOutcomes(database).joint_counts("default", Lens.HUMAN, Lens.JUDGE)
    assert counts == [JointCount("left", "right", Vote.A, Vote.TIE, 1)]
    both = await pair_counts(database, "default", Lens.JUDGE)
    assert both == [PairCount("left", "right", Vote.TIE, 1)]  # no majority


async def test_two_lenses_in_a_slice(database: Database) -> None:
    await receive(database, "b1", "en")
    await receive(database, "b2", "de")
    counts = await WrittenOutcomes(database).joint_counts("default", Lens.HUMAN, Lens.JUDGE, Slice("de"))
    assert counts == [JointCount("left", "right", Vote.A, None, 1)]


async def test_outcomes_are_counted_per_day_of_receipt_in_utc(database: Database) -> None:
    late_in_the_west = datetime(2026, 5, 4, 23, 30, tzinfo=timezone(timedelta(hours=-5)))  # 5 May in UTC
    for name, at in (("b1", NOON), ("b2", NOON + timedelta(hours=3)), ("b3", late_in_the_west)):
        await receive(database, name, language="en" if name != "b2" else "de", at=at)
    daily = await WrittenOutcomes(database).dated("default", Lens.HUMAN)
    days = {NOON.replace(hour=0, minute=0, second=0, microsecond=0), datetime(2026, 5, 5, tzinfo=UTC)}
    assert [day for day, _ in daily] == sorted(days)
    assert sum(tally.wins.sum() for _, tally in daily) == 3
    english = await WrittenOutcomes(database).dated("default", Lens.HUMAN, Slice(language="en"))
    assert sum(tally.wins.sum() for _, tally in english) == 2
    assert await WrittenOutcomes(database).dated("default", Lens.JUDGE) == []
