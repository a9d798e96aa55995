"""What battles cost the machine: processor seconds by process, messages of the broker, writes of PostgreSQL.

    counters before ──> battles ──> counters after;   (after - before - readings of the board) / battles

The board is read every 0.1 s by the benchmark alone, so what a reading costs a platform at rest is taken off.

The processor seconds of PostgreSQL are those of all its processes; with SQLite its numbers are missing.
"""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import psutil
from sqlalchemy import text

from services.store.database import Database
from tests.e2e.processes import Platform

_BROKER = {"messages": "in_msgs", "message bytes": "in_bytes"}
_DATABASE = {
    "transactions": "select sum(xact_commit) from pg_stat_database",
    "rows written": "select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables",
    "database bytes": "select sum(pg_total_relation_size(relid)) from pg_stat_user_tables",
    "log bytes": "select pg_current_wal_lsn() - '0/0'::pg_lsn",
}


async def counted(running: Platform, folder: Path) -> dict[str, float]:
    """The counters now, by name; those of processors are in seconds and begin with `cpu `.

    Args:
        running: The platform.
        folder: Where broker and database keep their files.
    """
    children = {name: process.child for name, process in running.processes.items()}
    found = {f"cpu {name}": _seconds(child.pid) for name, child in children.items() if child is not None}
    ports = next((folder / "nats").glob("*.ports"))
    found["cpu broker"] = _seconds(int(ports.stem.rpartition("_")[2]))
    [monitoring] = json.loads(ports.read_text(encoding="utf-8"))["monitoring"]
    page = await asyncio.to_thread(lambda: urlopen(f"{monitoring}/varz").read())
    found |= {name: float(json.loads(page)[field]) for name, field in _BROKER.items()}
    if (pid := folder / "postgresql" / "postmaster.pid").exists():
        found["cpu postgresql"] = _seconds(int(pid.read_text(encoding="utf-8").split()[0]))
        found |= await _of_database(running.database_url)
    return found


async def _of_database(url: str) -> dict[str, float]:
    database = Database(url)
    try:
        async with database.reading() as tx:
            return {
                name: float((await tx.execute(text(query))).scalar_one()) for name, query in _DATABASE.items()
            }
    finally:
        await database.close()


def _seconds(pid: int) -> float:
    """Processor seconds of a process, of its children that ended, and of those that run."""
    process = psutil.Process(pid)
    total = sum(process.cpu_times()[:4])
    for child in process.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            total += sum(child.cpu_times()[:2])
    return total


def growth(before: Mapping[str, float], after: Mapping[str, float], parts: float) -> dict[str, float]:
    """How much each counter grew, divided by a number of battles or readings."""
    return {name: (after[name] - before[name]) / parts for name in before}


def beyond_rest(cost: Mapping[str, float], rest: Mapping[str, float], readings: float) -> dict[str, float]:
    """What a battle costs beyond its share of the readings of the board."""
    return {name: max(0.0, value - rest[name] * readings) for name, value in cost.items()}


def show_load(rest: Mapping[str, float], battle: Mapping[str, float]) -> None:
    """Print what a reading of the board costs, and what a battle adds."""
    print(f"{'':24}{'a reading at rest':>18}{'a battle adds':>16}")
    for name, value in battle.items():
        print(f"{name:24}{rest[name]:18,.4f}{value:16,.3f}")
    print()
