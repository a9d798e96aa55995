"""Battles in a database, with everything that the stages store of them, and where a text is in it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from operator import attrgetter

import numpy as np
from sqlalchemy import Connection, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Side, Source, Vote
from nuggetstream.domain.conversation import Role, Turn
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.counts import PairCount
from services.runtime.errors import InvalidInput
from services.runtime.llm.accounting import Entry
from services.runtime.llm.call_log import ModelCall
from services.runtime.llm.call_log import Outcome as CallOutcome
from services.runtime.llm.prices import Money, Tokens
from services.store.battles.battle_search import BattleFilter, BattleSearch
from services.store.battles.battles import BattleRow, Battles
from services.store.battles.event_bodies import value_of_battle
from services.store.battles.recording import NewEvent
from services.store.compressed import decompress, packed
from services.store.content.blobs import Blobs, Replies
from services.store.content.chunks import Chunks, Sources, StoredChunk, StoredSource
from services.store.database import Database
from services.store.locks import lock
from services.store.outcomes.cells import Cell, read_counts
from services.store.outcomes.outcome import Outcome
from services.store.outcomes.outcome_rows import OutcomeRows
from services.store.outcomes.outcome_writing import put_all
from services.store.outcomes.outcomes import Outcomes
from services.store.spend.call_log import DatabaseCallLog
from services.store.spend.spend import DatabaseSpendStore
from services.store.tables import battles as battle_table
from services.store.tables import metadata
from services.store.work.reruns import restart_failed
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name
from services.wire.texts import texts_of
from tests import samples
from tests.samples import NOON

LATER = NOON + timedelta(hours=1)
URL = "https://example.org/page"


async def latest(battles: Battles, limit: int, arena: str | None = None) -> list[BattleRow]:
    """The newest battles, newest first."""
    return (await BattleSearch(battles._database).page(BattleFilter(arena), limit)).rows


async def record_new(battles: Battles, new: NewEvent, at: datetime) -> int | None:
    """Record one event; its number within its battle, None when it had been recorded before."""
    [recorded] = await battles.record_all([new], at)
    if isinstance(recorded, LookupError | InvalidInput):
        raise recorded
    return None if recorded.known else recorded.sequence


async def body_of(battles: Battles, battle_id: str) -> bytes | None:
    """The encoded battle as accepted; None when it is unknown."""
    submission = await battles.submission(battle_id)
    return None if submission is None else submission.body


def sent(name: str) -> events.BattleSubmitted:
    """A battle every text of which has its name."""
    battle = samples.battle(name, f"{name} says one thing.", f"{name} says another.")
    a = replace(battle.a, system=f"{name} left", sources=(Source(f"{URL}/{name}"),))
    turns = (Turn(Role.USER, f"Who grows {name}?"), Turn(Role.ASSISTANT, f"China grows {name}."))
    battle = replace(battle, query=f"What is {name}?", tags=(f"about {name}", "tea"), a=a, conversation=turns)
    return events.BattleSubmitted(f"submitted {name}", battle)


async def record(database: Database, event: events.BattleEvent) -> None:
    kind = type(event)
    new = NewEvent(message_id(event), event_name(kind), event, schema_of(kind), encode(event))
    await record_new(Battles(database), new, LATER)


async def restarted(database: Database, battle_id: str) -> dict[Stage, set[str]]:
    """Set the failed branches of a battle back to pending."""
    return await database.write(lambda connection: restart_failed(connection, battle_id))


class WrittenOutcomes(Outcomes):
    """Outcomes that a test stores without the events that state them."""

    async def put(self, outcome: Outcome) -> None:
        await self.put_all([outcome])

    async def put_all(self, new: Sequence[Outcome]) -> None:
        def write(connection: Connection) -> None:
            lock(connection, (f"battle {outcome.battle_id}" for outcome in new))
            put_all(connection, new)

        await self._database.write(write)


async def pair_counts(
    database: Database, arena: str, lens: Lens, selection: Slice = EVERYTHING
) -> list[PairCount]:
    """Number of outcomes per pair of systems and winner, sorted, as boards count them."""
    async with database.transaction() as tx:
        return winners_of((await read_counts(tx, arena, lens, selection)).cells)


async def pair_counts_of_rows(tx: AsyncConnection, arena: str, lens: Lens, selection: Slice) -> list[Cell]:
    """The same numbers from the rows of the outcomes alone."""
    rows = await tx.execute(OutcomeRows(tx).numbers(arena, lens, selection))
    return [Cell(*row[:2], *map(int, row[2:])) for row in rows]


async def daily_counts_of_rows(
    tx: AsyncConnection, arena: str, lens: Lens, selection: Slice
) -> list[tuple[str, Cell]]:
    """The same numbers by day, such as "20260504"."""
    rows = await tx.execute(OutcomeRows(tx).numbers(arena, lens, selection, dated=True))
    return [(row[0], Cell(*row[1:3], *map(int, row[3:]))) for row in rows]


def winners_of(cells: Iterable[Cell]) -> list[PairCount]:
    counts = [
        PairCount(cell.system_a, cell.system_b, vote, getattr(cell, vote.value))
        for cell in cells
        for vote in Vote
        if getattr(cell, vote.value)
    ]
    return sorted(counts, key=attrgetter("system_a", "system_b", "winner"))


async def evaluate(database: Database, name: str, text: str, at: datetime = NOON) -> None:
    """Everything that the stages store of a battle with one page."""
    submitted = sent(name)
    battle = submitted.battle
    await Battles(database).accept(battle, encode(submitted), at)
    await record(database, submitted)
    [key] = await Blobs(database).put_texts([text], name)
    pages = (samples.page(f"{URL}/{name}", text),)
    await record(database, events.BattleScraped(f"scraped {name}", battle, pages))
    await Blobs(database).put_blob(sha256(f"body of {name}".encode()).hexdigest(), name.encode(), name)
    chunk = StoredChunk(f"chunk of {key[:40]}", key, 0, text)
    await Chunks(database).add([chunk])
    await Chunks(database).add_vectors("m", {chunk.text_hash: np.ones(3, np.float32)})
    await Sources(database).add(name, [StoredSource(f"{URL}/{name}", f"On {name}", key, NOON, (Side.A,))])
    await Replies(database).put(content_hash(f"prompt {text}"), f"reply to {text}", name)
    await Replies(database).get(content_hash(f"prompt {text}"), name)
    cost = Money(Decimal("0.01"), "USD")
    tokens = Tokens(3, 2)
    await DatabaseSpendStore(database).add(Entry(name, "judge", "m", date(2026, 5, 4), tokens, cost, "usage"))
    await DatabaseCallLog(database).add([call_of(submitted, f"What is said about {text} and {name}?")])
    await record(database, replace(samples.failed(Stage.NUGGETIZER, name), key=f"failed {name}"))
    await record(database, replace(samples.judged(fought=battle), key=f"judged {name}"))
    for source, lens, winner in (("judge:p", Lens.JUDGE, Vote.A), ("human", Lens.HUMAN, Vote.TIE)):
        outcome = Outcome(
            battle_id=name,
            source=source,
            lens=lens,
            arena=battle.arena,
            system_a=battle.a.system,
            system_b=battle.b.system,
            winner=winner,
            margin=None,
            decided_at=LATER,
        )
        await WrittenOutcomes(database).put(outcome)


def call_of(event: events.BattleSubmitted, question: str, key: str = "k" * 64) -> ModelCall:
    """A call whose prompt has both answers of a battle."""
    answers = "\n".join(event.battle.answer(side).text for side in Side)
    content = f"Compare.\n\n<<<answer A #{'0' * 16}>>>\n{answers}\n{question}"
    return ModelCall(
        battle_id=event.battle.id,
        stage="judge",
        evaluator=None,
        task="verdict",
        model="m",
        endpoint="model.example",
        key=key,
        repair=False,
        attempt=1,
        at=LATER,
        seconds=1.5,
        outcome=CallOutcome.UNUSABLE,
        entry=None,
        reply=f"a reply about {event.battle.id}",
        detail="it is not JSON",
        messages=[{"role": "system", "content": "You judge."}, {"role": "user", "content": content}],
        texts=lambda: texts_of(event),
    )


async def places_of(database: Database, text: str) -> set[str]:
    """The columns of all tables in which a text occurs, as it is stored or unpacked.

    Raises:
        zlib.error: A column has packed bytes that nothing here can unpack.
    """
    places = set()
    async with database.transaction() as tx:
        own = {row.id: row.body for row in await tx.execute(select(battle_table.c.id, battle_table.c.body))}
        for table in metadata.sorted_tables:
            for row in (await tx.execute(select(table))).mappings():
                for name, value in row.items():
                    plain = str(value)
                    if isinstance(value, bytes):
                        plain = unpacked(value, own.get(row.get("battle_id", ""))).decode("utf-8", "replace")
                    if text in plain:
                        places.add(f"{table.name}.{name}")
    return places


def unpacked(value: bytes, battle: bytes | None) -> bytes:
    """The stored bytes, followed by what they are packed from.

    Args:
        value: The stored bytes.
        battle: The stored body of its battle, which is the dictionary of events; None where there is none.

    Raises:
        zlib.error: They are packed with a dictionary that the battle does not have.
    """
    part = packed(value)
    if part is None:
        return value + decompress(value)
    if battle is None or not needs_dictionary(part.data):
        return value + part.value()
    return value + part.value(value_of_battle(battle))


def needs_dictionary(stream: bytes) -> bool:
    """Whether a stream of zlib names a dictionary: a bit of its second byte (RFC 1950)."""
    return bool(stream[1] & 0x20)
