"""Keeps the nats-server of embedded mode working: starts it again after it has ended or lost its disk.

    the process has ended                                   ->  start it again
    it reports a failed write, and the disk accepts writes  ->  restart it
    it works, and a stream is missing                       ->  declare streams and consumers again

After a failed write (a full disk) nats-server stores nothing more until it is restarted, even when there is
room again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import nats.errors
import structlog

from services.runtime import metrics
from services.runtime.disk import Check
from services.runtime.nats_server import NatsServer, NatsServerFailed
from services.runtime.polling import pause

log = structlog.get_logger(__name__)

_INTERVAL = 0.5  # seconds between checks
_SICK_CHECKS = 3  # consecutive failed checks of a running server before it is restarted
_LONGEST_PAUSE = 5.0  # seconds between attempts to start it
_STREAMS_EVERY = 5.0  # seconds between checks that all streams exist


class NatsSupervisor:
    """Watches one nats-server.

    Args:
        server: The server, already started.
        disk: Finds out whether the disk of its folder accepts writes; until it does, nothing is restarted.
        complete: Whether all streams exist. It may raise while the connection is not back.
        prepare: Declares streams and consumers.
    """

    def __init__(
        self,
        server: NatsServer,
        disk: Check,
        complete: Callable[[], Awaitable[bool]],
        prepare: Callable[[], Awaitable[None]],
    ) -> None:
        self._server = server
        self._disk = disk
        self._complete = complete
        self._prepare = prepare
        self._sick = 0  # consecutive failed checks
        self._failed_starts = 0
        self._complete_at = 0.0  # when all streams were last known to exist

    async def run(self, stop: asyncio.Event) -> None:
        """Watch until `stop` is set."""
        while not stop.is_set():
            await self._check()
            await pause(min(_LONGEST_PAUSE, _INTERVAL * 2.0**self._failed_starts), stop)

    async def _check(self) -> None:
        problem = await self._server.problem()
        if problem is None:
            self._sick = 0
            await self._check_streams()
            return
        self._sick += 1
        if self._server.pid is not None and self._sick < _SICK_CHECKS:
            return
        if (full := await self._disk()) is not None:
            if self._sick == _SICK_CHECKS:
                log.error("the broker is restarted when its disk accepts writes", problem=problem, disk=full)
            return
        await self._restart(problem)

    async def _check_streams(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._complete_at < _STREAMS_EVERY:
            return
        with suppress(nats.errors.Error, TimeoutError):  # the connection is not back yet
            if not await self._complete():
                log.error("a stream is missing; declaring streams and consumers again")
                await self._prepare()
            self._complete_at = now

    async def _restart(self, problem: str) -> None:
        log.error("restarting the broker", problem=problem)
        metrics.BROKER_RESTARTS.inc()
        try:
            await self._server.restart()
        except (NatsServerFailed, OSError) as error:
            self._failed_starts += 1
            log.error("the broker did not start", error=str(error))  # noqa: TRY400 - the message says it all
            return
        self._sick = self._failed_starts = 0
        self._complete_at = 0.0
