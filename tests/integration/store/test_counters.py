"""Counters say what the rows say, whatever happened in whatever order, on both databases."""

import asyncio
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, insert, text, update

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.lens import JUDGED, Lens
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import tally_of
from services.runtime.llm.accounting import Entry
from services.runtime.llm.prices import Money, Tokens
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes import recount as recounting
from services.store.outcomes.doubts import doubts
from services.store.outcomes.judge_biases import judge_counters
from services.store.outcomes.label_tables import LABEL_COLUMNS, label_counters
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcome_rows import OutcomeRows
from services.store.outcomes.probabilities import UNIT, Probabilities
from services.store.outcomes.recount import recount
from services.store.spend.spend import DatabaseSpendStore
from services.store.tables import (
    battle_counters,
    joint_counters,
    lens_counters,
    pair_counters,
    spend_counters,
)
from tests.databases import copy_of, engines_of
from tests.samples import NOON, battle
from tests.stored import WrittenOutcomes, pair_counts, pair_counts_of_rows, winners_of

SOURCES = [
    ("human", Lens.HUMAN),
    ("nugget", Lens.NUGGET),
    ("judge:Strict", Lens.JUDGE),
    ("judge:a", Lens.JUDGE),
    ("guided:a", Lens.GUIDED),
    ("member:a/x", Lens.MEMBER),
    ("member:a/y", Lens.MEMBER),
]
TWO_SOURCES = [
    ("judge:Strict", "judge:a"),
    ("judge:a", "judge:Strict"),
]
SYSTEMS = ["left", "right", "Über"]
FEBRUARY, MARCH, MAY = (datetime(2026, month, 1, tzinfo=UTC) for month in (2, 3, 5))
SLICES = [
    EVERYTHING,
    Slice(language="en"),
    Slice(language="fr"),
    Slice(tags=("x",)),
    Slice(tags=("x", "y")),
    Slice(language="de", tags=("y",)),
    Slice(since=FEBRUARY, until=MARCH),
    Slice(since=FEBRUARY),
    Slice(until=MAY),
    Slice(since=FEBRUARY, until=MAY, language="en"),
    Slice(since=FEBRUARY + timedelta(days=3)),
    Slice(until=MARCH + timedelta(days=20)),
    Slice(since=FEBRUARY + timedelta(days=20, hours=3), until=MAY + timedelta(days=2)),
    Slice(since=FEBRUARY + timedelta(hours=1), until=MAY + timedelta(days=27, hours=2)),
    Slice(since=FEBRUARY + timedelta(days=2), until=FEBRUARY + timedelta(days=25)),
    Slice(since=FEBRUARY + timedelta(days=25), until=MARCH + timedelta(days=2)),
    Slice(since=FEBRUARY, until=MAY + timedelta(days=27)),
    Slice(since=MARCH, until=FEBRUARY + timedelta(days=2)),
    Slice(since=FEBRUARY + timedelta(days=2), evaluator="a"),
    Slice(since=MAY, until=FEBRUARY),
    Slice(since=MAY, until=MAY),
    Slice(evaluator="Strict"),
    Slice(evaluator="a", language="en"),
    Slice(evaluator="nobody"),
]
NONE_WRONG = dict.fromkeys(
    (
        table.name
        for table in (
            battle_counters,
            lens_counters,
            pair_counters,
            joint_counters,
            judge_counters,
            label_counters,
            spend_counters,
            doubts,
        )
    ),
    0,
)


class Operations:
    """Random operations on a database, repetitions included."""

    def __init__(self, database: Database, seed: int) -> None:
        self._database, self._random = database, random.Random(seed)

    async def several(self, count: int) -> None:
        for _ in range(count):
            await self._random.choice(
                (self._accept, self._outcome, self._outcome, self._outcome, self._book)
            )()

    async def _accept(self) -> None:
        """Accept battles in one transaction, all received at the same time."""
        draw = self._random
        at = datetime(2026, draw.randint(1, 6), draw.choice((1, 28)), tzinfo=UTC)
        sent = [NewBattle(self._battle(), b"") for _ in range(draw.randint(1, 3))]
        await Battles(self._database).accept_all(sent, at + timedelta(hours=draw.choice((0, 23))))

    def _battle(self) -> Battle:
        draw = self._random
        tags = tuple(draw.choices(("x", "y", "y", 'say "z"'), k=draw.randrange(4)))
        language, arena = draw.choice(("en", "de", None)), draw.choice(("default", "other"))
        return replace(battle(self._name(), arena=arena), language=language, tags=tags)

    async def _outcome(self) -> None:
        """Store outcomes of stored battles in one transaction, or one twice."""
        stored = WrittenOutcomes(self._database)
        names = sorted(await Battles(self._database).get_all({f"b{number}" for number in range(8)}))
        if not names:
            return
        if self._random.randrange(2):
            await stored.put_all([self._new_outcome(names) for _ in range(self._random.randint(1, 6))])
            return
        outcome = self._new_outcome(names)
        for _ in range(self._random.randint(1, 2)):
            await stored.put(outcome)

    def _new_outcome(self, names: Sequence[str]) -> Outcome:
        draw = self._random
        source, lens = draw.choice(SOURCES)
        winner, share = draw.choice(list(Vote)), draw.randrange(UNIT + 1)
        told = lens is not Lens.HUMAN and winner is not Vote.BOTH_BAD and draw.randrange(3) > 0
        model = draw.choice(("m", "n", None)) if lens in (*JUDGED, Lens.NUGGET) else None
        return Outcome(
            battle_id=draw.choice(names),
            source=source,
            lens=lens,
            arena=draw.choice(("default", "default", "other")),
            system_a=draw.choice(SYSTEMS),
            system_b=draw.choice(SYSTEMS),
            winner=winner,
            margin=None,
            decided_at=NOON + timedelta(minutes=draw.randrange(3)),
            probabilities=Probabilities(share, draw.randrange(UNIT - share + 1)) if told else None,
            judge_model=model,
            favoured=draw.choice((None, -1, 0, 1)) if model and lens is not Lens.NUGGET else None,
            longer=draw.randint(-2, 2) if model and lens is not Lens.NUGGET else None,
        )

    async def _book(self) -> None:
        draw = self._random
        cost = draw.choice((None, Money(Decimal("0.5")), Money(Decimal(2), "EUR")))
        entry = Entry(
            battle_id=self._name(),
            stage="judge",
            model="m",
            day=NOON.date() + timedelta(days=draw.randrange(2)),
            tokens=Tokens(draw.randrange(99), 2, 1),
            cost=cost,
            source=draw.choice(("usage", "estimate")),
        )
        await DatabaseSpendStore(self._database).add(entry)

    def _name(self) -> str:
        return f"b{self._random.randrange(8)}"


async def check_reads(database: Database, slices: Sequence[Slice] = SLICES) -> int:
    """Compare what is read from counters with what a full read gives; the number of outcomes compared."""
    outcomes, compared = WrittenOutcomes(database), 0
    async with database.transaction() as tx:
        rows = OutcomeRows(tx)
        for arena in ("default", "other"):
            for selection in slices:
                for lens in Lens:
                    expected = winners_of(await pair_counts_of_rows(tx, arena, lens, selection))
                    assert await pair_counts(database, arena, lens, selection) == expected, selection
                    found, full = await outcomes.lens_counts(arena, lens, selection), tally_of(expected)
                    assert found.tally.systems == full.systems
                    for part in ("wins", "ties", "both_bad"):
                        assert (getattr(found.tally, part) == getattr(full, part)).all(), selection
                    assert found.outcomes == sum(cell.count for cell in expected)
                    assert found.decided == await rows.decided(arena, lens, selection), selection
                    compared += len(expected)
                both = (Lens.HUMAN, Lens.JUDGE)
                joint = await outcomes.joint_counts(arena, *both, selection)
                assert set(joint) == set(await rows.joint_counts(arena, *both, selection))
                assert len(set(joint)) == len(joint)
                totals = Counter[tuple[Vote | None, Vote | None]]()
                for cell in joint:
                    totals[cell.first, cell.second] += cell.count
                assert totals == Counter(await outcomes.joint_totals(arena, *both, selection))
                for two in TWO_SOURCES:
                    verdicts = await outcomes.sources_totals(arena, *two, selection)
                    assert verdicts == await rows.sources_totals(arena, *two, selection)
                    compared += sum(verdicts.values())
    return compared


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.full)])
async def test_counters_say_what_the_rows_say(database: Database, seed: int) -> None:
    operations = Operations(database, seed)
    for _ in range(2):
        await operations.several(40)
        assert await recount(database, repair=False) == NONE_WRONG
    assert await check_reads(database) > 50


async def test_counters_stay_right_when_many_write_at_once(database: Database) -> None:
    await asyncio.gather(*(Operations(database, seed).several(25) for seed in range(8)))
    assert await recount(database, repair=False) == NONE_WRONG


async def test_wrong_and_missing_counters_are_found_and_corrected(database: Database) -> None:
    await Operations(database, 1).several(80)
    outcomes = WrittenOutcomes(database)
    stamp = await outcomes.stamp("default", Lens.HUMAN)
    async with database.transaction() as tx:
        await tx.execute(update(pair_counters).where(pair_counters.c.kind == "all").values(tie=7))
        await tx.execute(text("DELETE FROM joint_counters"))
        await tx.execute(update(pair_counters).values(shift_a=pair_counters.c.shift_a + 1))
        await tx.execute(update(lens_counters).values(probable=5))
        await tx.execute(text("DELETE FROM doubts"))
        await tx.execute(update(judge_counters).values(longer_wins=judge_counters.c.longer_wins + 1))
        await tx.execute(text("DELETE FROM battle_counters WHERE kind = 'month'"))
        await tx.execute(update(spend_counters).values(picos=spend_counters.c.picos + 1))
        labels = dict.fromkeys(LABEL_COLUMNS.values(), 1) | {
            "arena": "default",
            "evaluator": "e",
            "model": "m",
        }
        await tx.execute(insert(label_counters).values(labels | {"battles": 1}))
    wrong = await recount(database, repair=False)
    assert min(wrong.values()) > 0
    assert await recount(database, repair=True) == wrong
    assert await recount(database, repair=True) == NONE_WRONG
    assert await check_reads(database, SLICES[::4]) > 0
    assert await outcomes.stamp("default", Lens.HUMAN) != stamp


async def spoil(database: Database) -> None:
    """Make counters of several tables wrong."""
    async with database.transaction() as tx:
        await tx.execute(update(pair_counters).values(tie=pair_counters.c.tie + 7))
        await tx.execute(text("DELETE FROM joint_counters"))
        await tx.execute(update(battle_counters).values(battles=battle_counters.c.battles - 1))
        await tx.execute(update(spend_counters).values(picos=spend_counters.c.picos + 1))


async def test_counters_are_corrected_while_others_write(database: Database) -> None:
    await Operations(database, 1).several(80)
    await spoil(database)
    others = (Operations(database, seed).several(25) for seed in range(2, 6))
    await asyncio.gather(recount(database, repair=True), *others)
    assert await recount(database, repair=False) == NONE_WRONG


async def test_two_that_correct_counters_at_once_correct_them_once(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recounting, "_ROWS_PER_TRANSACTION", 3)
    await Operations(database, 1).several(80)
    await spoil(database)
    databases = [Database(database.url) for _ in range(3)]
    await asyncio.gather(*(recount(each, repair=True) for each in databases))
    for each in databases:
        await each.close()
    assert await recount(database, repair=False) == NONE_WRONG


@pytest.mark.parametrize("repair", [False, True])
async def test_others_can_write_while_sqlite_counts(
    migrated_sqlite: Path, tmp_path: Path, *, repair: bool
) -> None:
    database = Database(copy_of(migrated_sqlite, tmp_path))
    await Operations(database, 1).several(40)
    written = 0

    def write(_c: Any, _cursor: Any, statement: str, _v: Any, _context: Any, _many: bool) -> None:
        nonlocal written
        if "HAVING" in statement:  # a full query has read its tables, and its transaction goes on
            with sqlite3.connect(tmp_path / "record.db", timeout=0) as other:
                other.execute("UPDATE battles SET flagged = flagged")
            other.close()
            written += 1

    for engine in engines_of(database):
        event.listen(engine, "after_cursor_execute", write)

    await recount(database, repair=repair)
    assert written == len(NONE_WRONG)
    await database.close()


async def both_judges(database: Database) -> None:
    """Two judges judge the same battle, whatever else was drawn."""
    for source, lens in SOURCES[2:4]:
        outcome = Outcome("both", source, lens, "default", "left", "right", Vote.A, None, NOON)
        await WrittenOutcomes(database).put(outcome)


async def test_two_judges_are_compared_on_the_battles_that_both_judged(database: Database) -> None:
    outcomes = WrittenOutcomes(database)
    verdicts = [("b1", "a", Vote.A), ("b1", "b", Vote.B), ("b2", "a", Vote.TIE), ("b2", "b", Vote.TIE)]
    for name, judge, winner in [*verdicts, ("b3", "a", Vote.A)]:
        outcome = Outcome(name, f"judge:{judge}", Lens.JUDGE, "default", "x", "y", winner, None, NOON)
        await outcomes.put(outcome)
    statements = list[str]()

    def remember(_c: Any, _cursor: Any, statement: str, _v: Any, _context: Any, _many: bool) -> None:
        statements.append(statement)

    for engine in engines_of(database):
        event.listen(engine, "before_cursor_execute", remember)
    totals = await outcomes.sources_totals("default", "judge:a", "judge:b")
    assert statements
    assert not [statement for statement in statements if "FROM outcomes" in statement]
    assert totals == {(Vote.A, Vote.B): 1, (Vote.TIE, Vote.TIE): 1}
    turned = await outcomes.sources_totals("default", "judge:b", "judge:a")
    assert turned == {
        (Vote.B, Vote.A): 1,
        (Vote.TIE, Vote.TIE): 1,
    }
    counts = await outcomes.lens_counts("default", Lens.JUDGE, Slice(evaluator="a"))
    assert (counts.outcomes, counts.decided) == (3, 3)
    every = await outcomes.lens_counts("default", Lens.JUDGE)
    assert (every.outcomes, every.decided) == (3, 3)


async def test_a_stamp_changes_with_the_counts_of_its_lens_and_slice_alone(database: Database) -> None:
    outcomes, english = WrittenOutcomes(database), Slice(language="en")
    vote = Outcome("b1", "human", Lens.HUMAN, "default", "left", "right", Vote.A, None, NOON)
    for name, language in (("b1", "en"), ("b2", "de")):
        await Battles(database).accept(replace(battle(name), language=language), b"", NOON)

    async def stamps() -> list[int | None]:
        return [
            await outcomes.stamp("default", lens, selection)
            for lens in (Lens.HUMAN, Lens.JUDGE)
            for selection in (EVERYTHING, english)
        ]

    assert await stamps() == [None] * 4
    await outcomes.put(vote)
    first = await stamps()
    await outcomes.put(vote)
    await outcomes.put(replace(vote, decided_at=NOON + timedelta(seconds=1)))
    assert await stamps() == first
    await outcomes.put(replace(vote, battle_id="b2"))
    second = await stamps()
    assert second[0] != first[0]
    assert second[1:] == first[1:]
    await outcomes.put(replace(vote, winner=Vote.B, decided_at=NOON + timedelta(seconds=2)))
    third = await stamps()
    assert third[1] not in (None, second[1])
