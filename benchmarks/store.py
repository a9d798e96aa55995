"""What the database costs per request, on PostgreSQL, at two sizes of it in one run.

    python -m benchmarks.store [--scale full] [--json FILE]

Makes a server and its data in a temporary folder and asks what the services ask: boards, agreement, budget
checks, announcements, new outcomes and new battles. Prints the median seconds at each size, the growth, and
the goals that were missed; exit status 1 where a goal was missed at the largest size.
"""

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from benchmarks.store_data import ARENA, LAST_DAY, UNTIL, Server, Size
from nuggetstream.domain.battle import Answer, Battle, Source, Vote
from nuggetstream.domain.event import BattleSubmitted, BattleVoted
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.fitting.tally import TiePolicy
from services.rater.announcer import Announcer
from services.rater.boards import Boards
from services.rater.stage import outcome_of
from services.runtime.llm.accounting import Budget, Ledger, Limit
from services.store.battles import Battles
from services.store.database import Database
from services.store.outcomes import Outcomes
from services.store.recording import NewEvent
from services.store.slices import EVERYTHING, Slice
from services.store.spend import DatabaseSpendStore
from services.wire.codec import encode, message_id, schema_of
from services.wire.subjects import event_name

GOALS = {  # seconds at the largest size
    "board, unchanged": 0.05,
    "board, after an outcome": 0.3,
    "board, one language": 0.5,
    "board, one tag": 0.5,
    "board, one month": 0.5,
    "agreement": 0.5,
    "budget check": 0.002,
    "a battle taken in": 0.01,
}
SCALES = {
    "small": [Size(1_000, 10), Size(4_000, 10)],
    "medium": [Size(20_000, 100), Size(100_000, 100)],
    "full": [Size(100_000, 100), Size(1_000_000, 100)],
}
_REPEATS, _CALLS, _TAKEN, _AT_ONCE = 5, 50, 400, 8
_TEXT = 6000  # characters of each answer


@dataclass(slots=True)
class World:
    """The parts of the services that ask the database."""

    database: Database
    size: Size
    numbers: "count[int]"

    @property
    def outcomes(self) -> Outcomes:
        return Outcomes(self.database)

    @property
    def battles(self) -> Battles:
        return Battles(self.database)

    def boards(self) -> Boards:
        return Boards(self.outcomes, self.battles)

    async def vote(self) -> None:
        """A battle that was voted on already gets another vote than before, as the rater stores it."""
        number = next(self.numbers)
        row = await self.battles.get(f"battle-{1 + number % self.size.battles}")
        assert row is not None
        at = UNTIL + timedelta(seconds=number)
        stored = next(o for o in await self.outcomes.of_battle(row.id) if o.lens is Lens.HUMAN)
        vote = Vote.B if stored.winner is Vote.A else Vote.A
        voted = BattleVoted(f"k{number}", row.id, ARENA, row.system_a, row.system_b, vote, at)
        await self.outcomes.put(outcome_of(voted, at))

    async def take(self) -> None:
        """A new battle with its submitted event, as the gateway and the recorder store them."""
        number = next(self.numbers)
        battle = _battle(number)
        submitted = BattleSubmitted(f"s{number}", battle)
        at, body = datetime.now(UTC), encode(submitted)
        await self.battles.accept(battle, body, at)
        new = NewEvent(
            message_id(submitted), event_name(BattleSubmitted), submitted, schema_of(BattleSubmitted), body
        )
        await self.battles.record(new, at)


def _battle(number: int) -> Battle:
    sources = tuple(Source(f"https://example.org/{number}/{place}") for place in range(5))
    a, b = (Answer(f"system-{(number + k) % 100:03}", f"{number} " * (_TEXT // 7), sources) for k in (0, 1))
    return Battle(f"new-{number}", ARENA, "What is tea?", a, b, language="en", tags=("category:1", "live"))


async def median(call: Callable[[], Awaitable[object]], repeats: int = _REPEATS) -> float:
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        await call()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


async def measure_boards(world: World) -> dict[str, float]:
    warm = world.boards()
    first = await median(lambda: world.boards().get(ARENA, [Lens.NUGGET]), 1)
    await warm.get(ARENA, [Lens.HUMAN])
    result = {"board, first": first}
    counts = await median(lambda: world.outcomes.lens_counts(ARENA, Lens.HUMAN))
    result["counts of a board read"] = counts
    result["board, unchanged"] = await median(lambda: warm.get(ARENA, [Lens.HUMAN]))
    after, put = [], []
    for _ in range(_REPEATS):
        put.append(await median(world.vote, 1))
        after.append(await median(lambda: warm.get(ARENA, [Lens.HUMAN]), 1))
    result["a vote stored"] = statistics.median(put)
    result["board, after an outcome"] = statistics.median(after)
    month = Slice(since=datetime(2026, 2, 1, tzinfo=UTC), until=datetime(2026, 3, 1, tzinfo=UTC))
    named = {"one language": Slice(language="en"), "one tag": Slice(tags=("category:3",)), "one month": month}
    named["language and tag"] = Slice(language="en", tags=("category:3",))
    named["last 30 days"] = Slice(since=UNTIL - timedelta(days=30, hours=5))
    for name, chosen in named.items():
        result[f"board, {name}"] = await median(
            lambda chosen=chosen: world.boards().get(ARENA, [Lens.HUMAN], slice_=chosen), 3
        )
    return result


async def measure_agreement(world: World) -> dict[str, float]:
    warm = world.boards()
    await warm.get(ARENA)

    async def ask() -> None:
        await warm.agreement(ARENA, TiePolicy.HALF, EVERYTHING)

    async def ask_after_an_outcome() -> None:
        await world.vote()
        await warm.get(ARENA)  # the boards are the cost of the row above
        start = time.perf_counter()
        await ask()
        after.append(time.perf_counter() - start)

    after: list[float] = []
    await ask()
    unchanged = await median(ask)
    for _ in range(3):
        await ask_after_an_outcome()
    return {"agreement, unchanged": unchanged, "agreement": statistics.median(after)}


async def measure_calls(world: World) -> dict[str, float]:
    limit = Limit(tokens=10**15)
    ledger = Ledger(
        budget=Budget(limit, limit), store=DatabaseSpendStore(world.database), today=lambda: LAST_DAY
    )

    async def check() -> None:
        async with ledger.reserve("battle-10", "model", 100):
            pass

    async def announce() -> None:
        announcer.changed(ARENA)
        await announcer.announce()

    async def publish(_event: object) -> None: ...

    announcer = Announcer(world.outcomes, publish)
    return {
        "budget check": await median(check, _CALLS),
        "announcement": await median(announce, 10),
        "arenas listed": await median(world.battles.arenas, 3),
    }


async def measure_intake(world: World) -> dict[str, float]:
    """Seconds per battle with so many tasks at once."""
    left = iter(range(_TAKEN))

    async def work() -> None:
        for _ in left:
            await world.take()

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(_AT_ONCE)))
    return {"a battle taken in": (time.perf_counter() - start) / _TAKEN}


async def measure(server: Server, size: Size) -> dict[str, float]:
    start, result = time.perf_counter(), {}
    async with server.database(f"bench{size.battles}", size) as database:
        print(f"{size.battles:,} battles made in {time.perf_counter() - start:.0f} s", flush=True)
        world = World(database, size, count(1))
        for part in (measure_calls, measure_boards, measure_agreement, measure_intake):
            result |= await part(world)
            print(f"  {part.__name__} done after {time.perf_counter() - start:.0f} s", flush=True)
    return result


def report(results: dict[int, dict[str, float]]) -> list[str]:
    """Print the table; the goals that the largest size missed."""
    sizes = sorted(results)
    print(f"\n{'':<26}" + "".join(f"{size:>14,}" for size in sizes) + f"{'growth':>9}{'goal':>11}")
    missed = []
    for name, last in results[sizes[-1]].items():
        cells = "".join(f"{results[size][name] * 1000:>11.2f} ms" for size in sizes)
        goal = GOALS.get(name)
        growth = f"{last / results[sizes[0]][name]:>8.1f}x"
        print(f"{name:<26}{cells}{growth}" + (f"{goal * 1000:>8.0f} ms" if goal else ""))
        if goal and last > goal:
            missed.append(f"{name}: {last * 1000:.1f} ms, the goal is {goal * 1000:.0f} ms")
    return missed


async def run(sizes: list[Size]) -> dict[int, dict[str, float]]:
    with tempfile.TemporaryDirectory(prefix="bench-store-") as folder:
        server = Server(Path(folder))
        try:
            return {size.battles: await measure(server, size) for size in sizes}
        finally:
            server.stop()


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--scale", choices=SCALES, default="full", help="how many battles and systems")
    options.add_argument("--json", type=Path, help="write the seconds to this file")
    chosen = options.parse_args()
    results = asyncio.run(run(SCALES[chosen.scale]))
    missed = report(results)
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=2), encoding="utf-8")
    print("\n" + ("\n".join(f"MISSED: {line}" for line in missed) if missed else "all goals met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
