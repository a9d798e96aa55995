"""What the database costs per request, on PostgreSQL, at two sizes of it in one run.

    python -m benchmarks.store [--scale full] [--json FILE]

Makes a server and its data in a temporary folder and asks what the services ask: boards, agreement, budget
checks, announcements, webhooks, new outcomes and battles. Prints the median time at each size, the growth,
the processor time of this process at the largest size, and the goals that were missed; exit status 1 where
there are any. On a busy machine only the growth and the processor time say something.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path

from benchmarks.store_costs import REPEATS, Cost, median, middle, once
from benchmarks.store_data import ARENA, JUDGE, LAST_DAY, SECOND_JUDGE, UNTIL, Server, Size
from benchmarks.store_intake import WRITERS, costs_of_deletion, seconds_per_battle
from benchmarks.store_pages import pages
from benchmarks.store_webhooks import measure_webhooks
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import Lens, source_of_judge
from nuggetstream.domain.slice import Slice
from nuggetstream.ratings.options import Every
from services.rater.announcer import Announcer
from services.rater.boards import Boards
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.budget import Budget, Limit
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.outcomes.outcome_writing import put_all
from services.store.outcomes.outcomes import Outcomes
from services.store.spend.spend import DatabaseSpendStore
from services.wire.rating_queries import AgreementQuery, TimelineQuery

GOALS = {  # seconds at the largest size
    "board, unchanged": 0.05,
    "board, after an outcome": 0.3,
    "board, one language": 0.5,
    "board, one tag": 0.5,
    "board, one month": 0.5,
    "board, two conditions": 2.0,
    "counts by day": 5.0,
    "agreement": 0.5,
    "agreement of two judges": 0.5,
    "board page": 0.05,
    "webhook, nothing new": 0.02,
    "webhook, 100 events": 0.1,
    "budget check": 0.002,
    f"a battle, {WRITERS} writers": 0.01,
    "a deletion": 0.08,  # a million battles a day are 11.6 a second
    "old battles listed": 0.1,
}
SCALES = {
    "small": [Size(250, 10), Size(1_000, 10)],
    "medium": [Size(20_000, 100), Size(100_000, 100)],
    "full": [Size(100_000, 100), Size(1_000_000, 100)],
}
PAGES = {
    "board page": f"/leaderboard?arena={ARENA}",
    "page of all lenses": f"/leaderboard/table?arena={ARENA}",
    "page of battles": f"/?arena={ARENA}",
}
PERIODS = (Every.MONTH, Every.DAY)
_CALLS, _TAKEN = 50, 200  # battles that each writer stores


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
        """A battle that was voted on already gets another vote than before, as the recorder counts it."""
        await self._change(Lens.HUMAN.value)

    async def verdict(self) -> None:
        """The second judge changes its verdict about a battle that both judged."""
        await self._change(source_of_judge(SECOND_JUDGE))

    async def _change(self, source: str) -> None:
        number = next(self.numbers)
        outcomes = await self.outcomes.of_battle(f"battle-{2 + 2 * number % self.size.battles}")
        stored = next(outcome for outcome in outcomes if outcome.source == source)
        winner = Vote.B if stored.winner is Vote.A else Vote.A
        at = UNTIL + timedelta(seconds=number)
        changed = replace(stored, winner=winner, decided_at=at)
        await self.database.write(lambda connection: put_all(connection, [changed]))


async def measure_boards(world: World) -> dict[str, Cost]:
    warm = world.boards()
    first = await median(lambda: world.boards().get(ARENA, [Lens.NUGGET]), 1)
    await warm.get(ARENA, [Lens.HUMAN])
    result = {"board, first": first}
    counts = await median(lambda: world.outcomes.lens_counts(ARENA, Lens.HUMAN))
    result["counts of a board read"] = counts
    result["board, unchanged"] = await median(lambda: warm.get(ARENA, [Lens.HUMAN]))
    after, put = [], []
    for _ in range(REPEATS):
        put.append(await once(world.vote))
        after.append(await once(lambda: warm.get(ARENA, [Lens.HUMAN])))
    result["a vote stored"] = middle(put)
    result["board, after an outcome"] = middle(after)
    month = Slice(since=datetime(2026, 2, 1, tzinfo=UTC), until=datetime(2026, 3, 1, tzinfo=UTC))
    named = {"one language": Slice(language="en"), "one tag": Slice(tags=("category:3",)), "one month": month}
    named["two conditions"] = Slice(language="en", tags=("category:3",))
    named["last 30 days"] = Slice(since=UNTIL - timedelta(days=30, hours=5))
    for name, chosen in named.items():
        result[f"board, {name}"] = await median(
            lambda chosen=chosen: world.boards().get(ARENA, [Lens.HUMAN], slice_=chosen), 3
        )
    return result


async def measure_pages(world: World) -> dict[str, Cost]:
    boards, costs = world.boards(), {}
    async with pages(world.database, boards) as client:

        async def get(path: str) -> None:
            (await client.get(path)).raise_for_status()

        for name, path in PAGES.items():
            costs[f"{name}, first"] = await once(partial(get, path))
            costs[name] = await median(partial(get, path))
    return costs


async def measure_timelines(world: World) -> dict[str, Cost]:
    by_month, by_day = (partial(world.outcomes.dated, ARENA, Lens.HUMAN, every=every) for every in PERIODS)
    week = UNTIL - timedelta(days=7)

    async def timeline() -> None:
        boards = world.boards()
        await boards.timeline(TimelineQuery(arena=ARENA, every=Every.DAY, since=week))

    return {
        "counts by month": await median(by_month, 1),
        "counts by day": await median(by_day, 1),
        "timeline by day, a week": await median(timeline, 1),
    }


async def measure_agreement(world: World) -> dict[str, Cost]:
    warm = world.boards()
    await warm.get(ARENA)

    async def ask() -> None:
        await warm.agreement(AgreementQuery(arena=ARENA))

    async def ask_after(change: Callable[[], Awaitable[None]]) -> Cost:
        await change()
        await warm.get(ARENA)  # the boards are the cost of the rows above
        for judge in (JUDGE, SECOND_JUDGE):
            await warm.get(ARENA, [Lens.JUDGE], slice_=Slice(evaluator=judge))
        return await once(ask)

    await ask()
    return {
        "agreement, unchanged": await median(ask),
        "agreement": middle([await ask_after(world.vote) for _ in range(3)]),
        "agreement of two judges": middle([await ask_after(world.verdict) for _ in range(3)]),
    }


async def measure_calls(world: World) -> dict[str, Cost]:
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


async def measure_intake(world: World) -> dict[str, Cost]:
    """Seconds per battle with several processes that store battles, events and outcomes at once."""
    seconds = await seconds_per_battle(world.database.url, ARENA, _TAKEN)
    return {f"a battle, {WRITERS} writers": Cost(seconds, None)}


async def measure_deletion(world: World) -> dict[str, Cost]:
    return await costs_of_deletion(world.database, ARENA, UNTIL)


PARTS = (
    measure_calls,
    measure_boards,
    measure_pages,
    measure_timelines,
    measure_agreement,
    measure_webhooks,
    measure_intake,
    measure_deletion,
)


async def measure(server: Server, size: Size) -> dict[str, Cost]:
    start, result = time.perf_counter(), {}
    async with server.database(f"bench{size.battles}", size) as database:
        print(f"{size.battles:,} battles made in {time.perf_counter() - start:.0f} s", flush=True)
        world = World(database, size, count(1))
        for part in PARTS:
            result |= await part(world)
            print(f"  {part.__name__} done after {time.perf_counter() - start:.0f} s", flush=True)
    return result


def report(results: dict[int, dict[str, Cost]]) -> list[str]:
    """Print the table; the goals that the largest size missed."""
    sizes = sorted(results)
    heading = "".join(f"{size:>14,}" for size in sizes)
    print(f"\n{'':<26}{heading}{'growth':>9}{'goal':>11}{'processor':>14}")
    missed = []
    for name, last in results[sizes[-1]].items():
        cells = "".join(f"{results[size][name].seconds * 1000:>11.2f} ms" for size in sizes)
        goal = GOALS.get(name)
        growth = f"{last.seconds / results[sizes[0]][name].seconds:>8.1f}x"
        shown = f"{goal * 1000:>8.0f} ms" if goal else " " * 11
        own = "" if last.processor is None else f"{last.processor * 1000:>11.2f} ms"
        print(f"{name:<26}{cells}{growth}{shown}{own}")
        if goal and last.seconds > goal:
            missed.append(f"{name}: {last.seconds * 1000:.1f} ms, the goal is {goal * 1000:.0f} ms")
    return missed


async def run(sizes: list[Size]) -> dict[int, dict[str, Cost]]:
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
    options.add_argument("--json", type=Path, help="write the costs to this file, in seconds")
    chosen = options.parse_args()
    results = asyncio.run(run(SCALES[chosen.scale]))
    missed = report(results)
    if chosen.json:
        chosen.json.write_text(json.dumps(results, indent=2, default=asdict), encoding="utf-8")
    print("\n" + ("\n".join(f"MISSED: {line}" for line in missed) if missed else "all goals met"))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
