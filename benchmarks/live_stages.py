"""Where the time until the first nuggets goes, from what the platform recorded of its battles.

    received ─> fetch ─> index ─> retrieve ─> wait for the call ─> model call ─> store and publish the list

Times are those of the clock of the machine, on which all services run. Each step but the model call contains
the hop to the recorder at its end, and not the one at its beginning.
"""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import select

from services.store.database import Database
from services.store.spend.call_tables import calls
from services.store.tables import battles, events

_RECORDED = {"submitted": "accept", "scraped": "fetch", "indexed": "index", "retrieved": "retrieve"}
_BEFORE, _CALL, _AFTER = "before the model call", "model call for nuggets", "after the model call"
STEPS = (*_RECORDED.values(), _BEFORE, _CALL, _AFTER)


async def seconds_by_step(database_url: str, since: float) -> dict[str, list[float]]:
    """Seconds of every battle whose nuggets took one model call, by step.

    Args:
        database_url: The database of the platform.
        since: Unix time; battles received before it are left out.
    """
    database = Database(database_url)
    try:
        async with database.reading() as tx:
            query = select(battles.c.id, battles.c.received_at)
            received = {row.id: row.received_at.timestamp() for row in await tx.execute(query)}
            named = select(events.c.battle_id, events.c.name, events.c.recorded_at)
            at: dict[str, dict[str, float]] = defaultdict(dict)
            for row in await tx.execute(named):
                at[row.battle_id].setdefault(row.name, row.recorded_at.timestamp())
            asked = select(calls.c.battle_id, calls.c.at, calls.c.seconds).where(
                calls.c.stage == "nuggetizer"
            )
            made: dict[str, list[tuple[float, float]]] = defaultdict(list)
            for row in await tx.execute(asked):
                if row.seconds is not None:
                    made[row.battle_id].append((row.at.timestamp(), row.seconds))
    finally:
        await database.close()
    steps: dict[str, list[float]] = {name: [] for name in STEPS}
    for battle, moments in at.items():
        if received[battle] < since or len(made[battle]) != 1:
            continue
        if not {*_RECORDED, "nuggetized"} <= moments.keys():
            continue
        for name, seconds in _of_battle(received[battle], moments, made[battle][0]).items():
            steps[name].append(seconds)
    return steps


def _of_battle(received: float, moments: Mapping[str, float], call: tuple[float, float]) -> dict[str, float]:
    steps, before = dict[str, float](), received
    for event, name in _RECORDED.items():
        steps[name], before = moments[event] - before, moments[event]
    began, took = call
    return steps | {_BEFORE: began - before, _CALL: took, _AFTER: moments["nuggetized"] - began - took}


def show_steps(steps: Mapping[str, Sequence[float]]) -> None:
    """Print the steps."""
    print(f"{'seconds of a step':26}{'p50':>8}{'p95':>8}{'p99':>8}")
    for name, values in steps.items():
        if len(values) > 1:
            cuts = statistics.quantiles(values, n=100, method="inclusive")
            print(f"{name:26}" + "".join(f"{cuts[place]:8.3f}" for place in (49, 94, 98)))
    print()
