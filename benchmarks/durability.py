"""What it costs that an accepted battle is on disk: writes that wait for the disk beside writes that do not.

    python benchmarks/durability.py [--battles 300] [--folder DIR]

Each row is one way to store battles of 12 kB; `ratio` is its time divided by the time of the same way without
waiting for the disk. Battles are stored one after another, as a sender of single battles does, and 32 at a
time, as many senders do.
"""

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import click
from sqlalchemy import Connection, Engine, event

from nuggetstream.files.submission import parse_submission
from services.runtime.bus import Bus, BusSettings, Outgoing, ensure
from services.runtime.nats_server import NatsServer
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.migrate import upgrade
from services.wire.topology import consumers, streams

Store = Callable[[int], Awaitable[object]]

_TEXT = "The Moon raises two tidal bulges on the Earth. " * 128  # 6 kB


def _battle(number: int) -> dict[str, object]:
    answers = {side: {"system": side, "text": _TEXT} for side in ("a", "b")}
    return {"id": f"battle-{number}", "arena": "bench", "query": "Why are there tides?", **answers}


async def _timed(store: Store, first: int, count: int, at_once: int) -> float:
    """Seconds to store battles with the numbers from `first`."""
    numbers = iter(range(first, first + count))

    async def work() -> None:
        for number in numbers:
            await store(number)

    started = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(at_once)))
    return time.perf_counter() - started


async def _database(folder: Path, stack: AsyncExitStack, *, synced: bool) -> Store:
    file = str(folder / f"synced-{synced}.db")
    database = Database(f"sqlite+aiosqlite:///{file}")
    stack.push_async_callback(database.close)

    def relax(connection: Connection) -> None:
        if connection.engine.url.database == file:
            cursor = connection.connection.cursor()
            cursor.execute("PRAGMA synchronous=NORMAL")
            cursor.close()

    if not synced:
        # Of all engines, because a database has one for the threads that write.
        event.listen(Engine, "engine_connect", relax)
        stack.callback(event.remove, Engine, "engine_connect", relax)
    await upgrade(database)
    battles = Battles(database)

    async def store(number: int) -> object:
        battle = parse_submission(_battle(number)).to_core()
        return await battles.accept(battle, _TEXT.encode() * 2, datetime.now(UTC))

    return store


async def _broker(folder: Path, stack: AsyncExitStack, *, synced: bool) -> Store:
    server = await stack.enter_async_context(NatsServer(folder / f"nats-{synced}", synced=synced))
    bus = await stack.enter_async_context(Bus.connect(BusSettings(servers=(server.url,))))
    await ensure(bus.js, streams(), consumers())

    async def store(number: int) -> object:
        message = Outgoing("arena.v1.battle.submitted", f"battle-{number}", "t", _TEXT.encode() * 2)
        return await bus.publish(message)

    return store


async def _measure(folder: Path, count: int) -> None:
    click.echo(f"{'':34} {'ms per battle':>13} {'ratio':>6}")
    for name, make in (("database", _database), ("broker", _broker)):
        for at_once in (1, 32):
            seconds: dict[bool, float] = {}
            for synced in (False, True):
                async with AsyncExitStack() as stack:
                    place = Path(tempfile.mkdtemp(dir=folder))
                    store = await make(place, stack, synced=synced)
                    await _timed(store, 0, 20, at_once)  # warm up
                    seconds[synced] = await _timed(store, 20, count, at_once)
                label = f"{name}, {at_once} at once, {'on disk' if synced else 'not waiting'}"
                ratio = seconds[synced] / seconds[False]
                click.echo(f"{label:34} {1000 * seconds[synced] / count:13.2f} {ratio:6.2f}")


@click.command()
@click.option("--battles", default=300, show_default=True, help="Battles stored per row.")
@click.option("--folder", type=click.Path(path_type=Path), help="Folder on the disk to measure.")
def main(battles: int, folder: Path | None) -> None:
    """Measure what waiting for the disk costs."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        asyncio.run(_measure(Path(place), battles))


if __name__ == "__main__":
    main()
