"""Boards with, without and only of battles with a flagged answer, on both databases."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import Slice
from services.store import tables
from services.store.battles.battle_search import BattleFilter, BattleSearch
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome import Outcome
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes, latest

HUMAN = Outcome("b1", "human", Lens.HUMAN, "default", "left", "right", Vote.A, None, NOON)
JUDGES = [replace(HUMAN, source=f"judge:{name}", lens=Lens.JUDGE) for name in ("one", "two")]


async def receive(database: Database) -> None:
    """Two flagged battles of five, one of them in German; people prefer A, the judges B where flagged."""
    for number in range(5):
        name, flagged = f"b{number}", number < 2
        sent = replace(battle(name), language="de" if number % 2 else "en")
        at = NOON + timedelta(minutes=number)
        await Battles(database).accept(sent, b"", at, flagged=flagged)
        verdict = Vote.B if flagged else Vote.A
        judged = [replace(outcome, winner=verdict) for outcome in JUDGES]
        await WrittenOutcomes(database).put_all([replace(o, battle_id=name) for o in (HUMAN, *judged)])


@pytest.mark.parametrize(
    ("flagged", "language", "battles"),
    [
        (Flagged.INCLUDE, None, 5), (Flagged.EXCLUDE, None, 3), (Flagged.ONLY, None, 2),
        (Flagged.INCLUDE, "de", 2), (Flagged.EXCLUDE, "de", 1), (Flagged.ONLY, "de", 1),
    ],
)  # fmt: skip
async def test_counts_are_of_the_battles_that_the_slice_selects(
    database: Database, flagged: Flagged, language: str | None, battles: int
) -> None:
    await receive(database)
    outcomes, chosen = WrittenOutcomes(database), Slice(language=language, flagged=flagged)
    assert await Battles(database).received("default", chosen) == battles
    for lens in (Lens.HUMAN, Lens.JUDGE):
        counts = await outcomes.lens_counts("default", lens, chosen)
        assert (counts.decided, counts.outcomes) == (battles, battles)
    one = replace(chosen, evaluator="one")
    assert (await outcomes.lens_counts("default", Lens.JUDGE, one)).outcomes == battles
    joint = await outcomes.joint_totals("default", Lens.HUMAN, Lens.JUDGE, chosen)
    assert sum(joint.values()) == battles
    agreeing = {Flagged.INCLUDE: None, Flagged.EXCLUDE: battles, Flagged.ONLY: 0}[flagged]
    if agreeing is not None:
        assert joint.get((Vote.A, Vote.A), 0) == agreeing
    assert (
        sum((await outcomes.sources_totals("default", "judge:one", "judge:two", chosen)).values()) == battles
    )
    assert sum(cell.count for cell in await outcomes.joint_counts("default", *_LENSES, chosen)) == battles
    days = await outcomes.dated("default", Lens.HUMAN, chosen)
    assert len(days) == 1


_LENSES = (Lens.HUMAN, Lens.JUDGE)


async def test_flagged_battles_are_listed_newest_first(database: Database) -> None:
    await receive(database)
    rows = (await BattleSearch(database).page(BattleFilter("default", flagged=True), 10)).rows
    assert [(row.id, row.flagged) for row in rows] == [("b1", True), ("b0", True)]
    assert len(await latest(Battles(database), 10, "default")) == 5


async def test_flagged_battles_are_counted_and_listed_by_their_index(database: Database) -> None:
    statements: list[tuple[str, Any]] = []

    def remember(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        statements.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", remember)
    try:
        assert await Battles(database).received("default", Slice(flagged=Flagged.ONLY)) == 0
        assert (await BattleSearch(database).page(BattleFilter("default", flagged=True), 10)).rows == []
    finally:
        event.remove(Engine, "before_cursor_execute", remember)
    queries = [pair for pair in statements if "battles.flagged" in pair[0]]
    assert len(queries) == 2
    await receive(database)
    explain, no = ("EXPLAIN QUERY PLAN ", "0") if database.is_sqlite else ("EXPLAIN ", "false")
    async with database.transaction() as tx:
        # One battle in a thousand is flagged: on a table of a few rows every plan costs the same.
        columns = ", ".join(name for name in tables.battles.c.keys() if name not in {"id", "flagged"})  # noqa: SIM118
        for copies in range(1, 12):
            await tx.exec_driver_sql(
                f"INSERT INTO battles (id, flagged, {columns}) "
                f"SELECT 'copy-{copies}-' || id, {no}, {columns} FROM battles"
            )
        await tx.exec_driver_sql("ANALYZE battles")
        for query, parameters in queries:
            plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + query, parameters))
            assert "ix_battles_flagged" in plan
