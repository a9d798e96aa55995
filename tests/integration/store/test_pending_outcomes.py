"""The table of outcomes that are not known to be counted, on both databases."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import Engine, event, select

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleAssigned, BattleEvent, BattleJudged
from nuggetstream.domain.lens import Lens
from services.store.database import Database
from services.store.outcome import Outcome, end_of_key
from services.store.outcomes import Outcomes
from services.store.pending_outcomes import PendingOutcomes, note_recorded, pending_outcomes
from tests import samples
from tests.samples import NOON

LATER = NOON + timedelta(hours=1)
MINUTE = timedelta(minutes=1)


def judged(name: str, evaluator: str = "pairwise", key: str = "") -> BattleJudged:
    return replace(samples.judged(evaluator=evaluator, fought=samples.battle(name)), key=f"{name} {key}")


def assigned(name: str, version: int, key: str) -> BattleAssigned:
    event = samples.assigned(1, 0, of=1, fought=samples.battle(name), key=key)
    return replace(event, nugget_list=replace(event.nugget_list, edit=version - 1))


async def note(database: Database, *recorded: BattleEvent) -> None:
    numbered = [(each, number) for number, each in enumerate(recorded, 1)]
    await database.write(lambda connection: note_recorded(connection, numbered, NOON))


async def count(database: Database, *events: BattleJudged) -> None:
    await Outcomes(database).put_all([outcome(each) for each in events])


def outcome(judged: BattleJudged) -> Outcome:
    return Outcome(
        battle_id=judged.battle.id,
        source=f"judge:{judged.judgment.evaluator}",
        lens=Lens.JUDGE,
        arena="default",
        system_a="left",
        system_b="right",
        winner=Vote.A,
        margin=None,
        decided_at=NOON,
        event_key=end_of_key(judged.key),
    )


async def rows_of(database: Database) -> list[Any]:
    async with database.reading() as tx:
        return list(await tx.execute(select(pending_outcomes).order_by(pending_outcomes.c.battle_id)))


@contextmanager
def statements() -> Iterator[list[tuple[str, Any]]]:
    executed: list[tuple[str, Any]] = []

    def remember(_c: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        executed.append((statement, parameters))

    event.listen(Engine, "before_cursor_execute", remember)
    try:
        yield executed
    finally:
        event.remove(Engine, "before_cursor_execute", remember)


async def test_a_group_of_events_costs_one_statement_and_one_without_outcomes_none(
    database: Database,
) -> None:
    events: Sequence[BattleEvent] = [judged(f"battle {number}") for number in range(50)]
    with statements() as executed:
        await note(database, *events, samples.graded(), samples.voted())
    assert [sql for sql, _ in executed if "pending_outcomes" in sql] == [sql for sql, _ in executed][-1:]
    with statements() as executed:
        await note(database, samples.retrieved(), samples.graded(), samples.voted())
    assert [sql for sql, _ in executed if "pending" in sql] == []
    assert len(await rows_of(database)) == 50


async def test_the_newest_list_of_a_source_is_waited_for_in_whatever_order(database: Database) -> None:
    await note(database, assigned("one", 2, "second"), assigned("one", 1, "first"))
    await note(database, assigned("one", 3, "third"))
    await note(database, assigned("one", 1, "late"), assigned("one", 2, "later"))
    (row,) = await rows_of(database)
    assert (row.source, row.list_version, row.event_key) == ("nugget", 3, "third")


async def test_rows_of_counted_outcomes_are_deleted_many_at_once(database: Database) -> None:
    events = [judged(f"battle {number}") for number in range(1200)]
    await note(database, *events, judged("other"))
    await count(database, *events)
    pending = PendingOutcomes(database)
    await pending.forget_counted(NOON)  # the rater may only just count them
    assert len(await rows_of(database)) == 1201
    with statements() as executed:
        await pending.forget_counted(LATER)
    assert [row.battle_id for row in await rows_of(database)] == ["other"]
    assert len([sql for sql, _ in executed if sql.startswith("DELETE")]) == 2


async def test_a_rater_that_is_away_costs_one_query_over_a_part_of_what_waits(database: Database) -> None:
    await note(database, *(judged(f"battle {number}") for number in range(1200)))
    with statements() as executed:
        await PendingOutcomes(database).forget_counted(LATER)
        assert await PendingOutcomes(database).take_due(LATER, NOON, 500) == []
    assert len([sql for sql, _ in executed if "pending_outcomes" in sql]) == 2
    assert len(await rows_of(database)) == 1200


async def test_an_outcome_of_an_earlier_event_does_not_count_for_a_later_one(database: Database) -> None:
    await note(database, judged("one", key="again"))
    await count(database, judged("one", key="first"))
    await PendingOutcomes(database).forget_counted(LATER)
    (due,) = await PendingOutcomes(database).take_due(LATER, None, 10)
    assert due.event_key == end_of_key("one again")
    await count(database, judged("one", key="again"))
    await PendingOutcomes(database).forget_counted(LATER + 2 * MINUTE)
    assert await rows_of(database) == []


async def test_the_row_of_a_newer_event_is_not_forgotten_with_an_older_one(database: Database) -> None:
    pending = PendingOutcomes(database)
    await note(database, judged("one", key="first"))
    (due,) = await pending.take_due(LATER, None, 10)
    await note(database, judged("one", key="again"))
    await pending.forget(due)
    assert [row.event_key for row in await rows_of(database)] == [end_of_key("one again")]


async def test_two_recorders_share_the_outcomes_that_are_due(database: Database) -> None:
    await note(database, *(judged(f"battle {number}") for number in range(20)))
    shares = await asyncio.gather(*(PendingOutcomes(database).take_due(LATER, None, 15) for _ in range(2)))
    rest = await PendingOutcomes(database).take_due(LATER, None, 100)
    taken = [due.battle_id for share in (*shares, rest) for due in share]
    assert sorted(taken) == sorted(f"battle {number}" for number in range(20))


async def test_the_searches_read_indexes(database: Database) -> None:
    with statements() as executed:
        await PendingOutcomes(database).forget_counted(LATER)
        assert await PendingOutcomes(database).take_due(LATER, NOON, 5) == []
    queries = [(sql, parameters) for sql, parameters in executed if "pending_outcomes" in sql]
    assert len(queries) == 2
    explain = "EXPLAIN QUERY PLAN " if database.is_sqlite else "EXPLAIN "
    for query, parameters in queries:
        async with database.transaction() as tx:
            if not database.is_sqlite:
                await tx.exec_driver_sql("SET LOCAL enable_seqscan = off")  # the tables are empty
            plan = "\n".join(str(tuple(row)) for row in await tx.exec_driver_sql(explain + query, parameters))
        assert "ix_pending_outcomes_published_at" in plan
        assert "Seq Scan" not in plan
        assert "SCAN pending_outcomes" not in plan
        assert "SCAN outcomes" not in plan
