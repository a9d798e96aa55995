"""How each kind of strike is made. Each function returns whether it had an effect, once it is over."""

import asyncio
import os
import shutil
import signal
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

import psutil

from nuggetstream.domain.progress import BattleState
from services.runtime.errors import Unavailable
from services.store.battles.battles import Battles
from tests.chaos.installation import Installation
from tests.chaos.strikes import Kind, Strike
from tests.stored import latest

_PATIENCE = 180.0  # seconds


async def _kill(platform: Installation, strike: Strike) -> bool:
    return await platform.kill(strike.target) == -signal.SIGKILL


async def _stop(platform: Installation, strike: Strike) -> bool:
    return await platform.stand_still(strike.target, strike.seconds)


async def _kill_broker(platform: Installation, strike: Strike) -> bool:
    server = platform.brokers[strike.target]
    before = server.pid
    await server.kill()
    ended = before is not None and not psutil.pid_exists(before)
    await server.start()
    return ended


async def _stop_database(platform: Installation, strike: Strike) -> bool:
    await asyncio.to_thread(platform.postgres.stop)
    try:
        await latest(Battles(platform.database), 1)
    except Unavailable:
        stopped = True
    else:
        stopped = False
    await asyncio.sleep(strike.seconds)
    await asyncio.to_thread(platform.postgres.start)
    return stopped


async def _fill_disk(platform: Installation, strike: Strike) -> bool:
    disk, server = platform.disks[strike.target], platform.brokers[strike.target]
    disk.fill()
    full = os.statvfs(disk.folder).f_bavail == 0
    await asyncio.sleep(strike.seconds)
    disk.free()
    await server.kill()  # after a failed write it stores nothing until it is started again
    await server.start()
    return full


async def _remove_storage(platform: Installation, strike: Strike) -> bool:
    server = platform.brokers[strike.target]
    await server.kill()
    shutil.rmtree(server._dir / "store")
    await server.start()
    return True


async def _model_away(platform: Installation, strike: Strike) -> bool:
    before = platform.endpoint.rejected
    platform.endpoint.away = True
    await asyncio.sleep(strike.seconds)
    with suppress(TimeoutError):  # on a slow machine the first call may come later
        async with asyncio.timeout(_PATIENCE):
            while platform.endpoint.rejected == before:
                await asyncio.sleep(0.2)
    platform.held = max(platform.held or 0, await _running(platform))
    platform.endpoint.away = False
    return platform.endpoint.rejected > before


async def _running(platform: Installation) -> int:
    """Number of battles that have not ended, once the database answers."""
    while True:
        with suppress(Unavailable):
            rows = await latest(Battles(platform.database), 1000)
            return sum(row.state is BattleState.RUNNING for row in rows)
        await asyncio.sleep(0.2)


HOW: Mapping[Kind, Callable[[Installation, Strike], Awaitable[bool]]] = {
    Kind.KILL: _kill,
    Kind.STOP: _stop,
    Kind.BROKER: _kill_broker,
    Kind.DATABASE: _stop_database,
    Kind.DISK: _fill_disk,
    Kind.STORAGE: _remove_storage,
    Kind.MODEL: _model_away,
}
