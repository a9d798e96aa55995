"""Several processes that store battles at the same time, as gateways and recorders do.

    python -m benchmarks.store_intake URL ARENA WRITER BATTLES    (one process, started by `benchmarks.store`)

Every battle costs what it costs in operation: the battle itself, eight events that move its state, three
outcomes, and all counters. Groups of 16 share a transaction, as battles in flight at the same time do.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from benchmarks.store_costs import Cost, median
from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Answer, Battle, Side, Source, Vote
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.nugget import Assignment, AssignmentSet, Importance, Nugget, NuggetList, Support
from services.store.battles.accepting import NewBattle
from services.store.battles.battles import Battles
from services.store.battles.deletion import DeletionResult, Deletions
from services.store.battles.recording import NewEvent
from services.store.database import Database
from services.store.outcomes.stated_outcomes import outcomes_of
from services.wire.codec import encode

WRITERS = 3
EVENTS, OUTCOMES = 8, 3  # per battle
_GROUP, _AT_ONCE = 16, 3
_DELETED, _AGE = 48, timedelta(days=30)
_TEXT = 6000  # characters of each answer
_BODY = bytes(4000)  # of an event other than the submission


def battle_of(number: int, arena: str, writer: int = 0) -> Battle:
    """A battle of 12 kB between two of a hundred systems."""
    sources = tuple(Source(f"https://example.org/{number}/{place}") for place in range(5))
    text = f"{number} " * (_TEXT // (len(str(number)) + 1))
    a, b = (Answer(f"system-{(number * 7 + k * 13) % 100:03}", text, sources) for k in (0, 1))
    language, tags = ("en", "de", "fr")[number % 3], (f"category:{number % 10}", "live")
    return Battle(f"new-{writer}-{number}", arena, "What is tea?", a, b, language=language, tags=tags)


def events_of(battle: Battle) -> list[events.BattleEvent]:
    """The events of a battle that was scored; four stand for the stages before the nuggets."""
    nugget = Nugget("n1", "Tea is made of leaves.", Importance.VITAL)
    nuggets = NuggetList((nugget,), (), "live", "both", "m", "1")
    labels = tuple(
        Assignment("n1", side, support)
        for side, support in ((Side.A, Support.SUPPORT), (Side.B, Support.NOT_SUPPORT))
    )
    vote = events.BattleVoted(
        f"v {battle.id}", battle.id, battle.arena, battle.a.system, battle.b.system, Vote.A, datetime.now(UTC)
    )
    retrieved = events.BattleRetrieved(battle.id, battle, (), (), "bm25")
    return [
        events.BattleSubmitted(f"s {battle.id}", battle),
        *(replace(retrieved, key=f"{stage} {battle.id}") for stage in range(EVENTS - 4)),
        vote,
        events.BattleAssigned(f"a {battle.id}", battle, nuggets, AssignmentSet(labels, "m", "1")),
        events.BattleJudged(f"j {battle.id}", battle, Judgment("pairwise", Vote.B, None, (), "m", "1")),
    ]


async def take(database: Database, group: list[Battle]) -> None:
    """Store a group of battles with their events and outcomes: one transaction of each service."""
    store, now = Battles(database), datetime.now(UTC)
    by_battle = [events_of(battle) for battle in group]
    new = [NewBattle(battle, encode(own[0])) for battle, own in zip(group, by_battle, strict=True)]
    await store.accept_all(new, now)
    for place in range(EVENTS):  # a recorder has one event of each battle in a group
        await store.record_all([_new_event(own[place]) for own in by_battle], now)


def _new_event(event: events.BattleEvent) -> NewEvent:
    new = NewEvent.of(event, outcomes_of(event, datetime.now(UTC)))
    return new if isinstance(event, events.BattleSubmitted) else replace(new, body=_BODY)


async def write(url: str, arena: str, writer: int, battles: int) -> None:
    """Store battles, several groups at a time; say when ready and wait for a line before the first."""
    database = Database(url)
    groups = iter(range(0, battles, _GROUP))
    async with database.reading():
        print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

    async def work(starts: Iterator[int]) -> None:
        for start in starts:
            numbers = range(start, min(start + _GROUP, battles))
            await take(database, [battle_of(number, arena, writer) for number in numbers])

    await asyncio.gather(*(work(groups) for _ in range(_AT_ONCE)))
    await database.close()


async def seconds_per_battle(url: str, arena: str, battles: int) -> float:
    """Seconds per battle with several processes at once, from the first to the last write.

    Raises:
        CalledProcessError: One of them failed.
    """
    command = [sys.executable, "-m", "benchmarks.store_intake", url, arena]
    processes = []
    for writer in range(WRITERS):
        arguments = (*command, str(writer), str(battles))
        pipe = subprocess.PIPE
        processes.append(await asyncio.create_subprocess_exec(*arguments, stdin=pipe, stdout=pipe))
    for process in processes:
        assert process.stdout is not None
        await process.stdout.readline()
    start = time.perf_counter()
    await asyncio.gather(*(process.communicate(b"\n") for process in processes))
    seconds = time.perf_counter() - start
    for process in processes:
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)
    return seconds / (battles * WRITERS)


async def costs_of_deletion(database: Database, arena: str, until: datetime) -> dict[str, Cost]:
    """What one process pays that deletes battles, each in a transaction of its own, and that lists old ones.

    Raises:
        RuntimeError: A battle was not deleted.
    """
    deletions = Deletions(database)
    battles = [battle_of(number, arena, WRITERS) for number in range(_DELETED)]
    await take(database, battles)
    left = iter(battles)

    async def delete() -> None:
        if await deletions.delete(next(left).id, until) is not DeletionResult.DELETED:
            raise RuntimeError("a battle was not deleted")

    deletion = await median(delete, _DELETED)
    listed = await median(lambda: deletions.expired(until - _AGE, arena, 1_000))
    return {"a deletion": deletion, "old battles listed": listed}


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
