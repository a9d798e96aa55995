"""All webhooks of a process: one dispatcher for each whose lease the process gets.

Every gateway runs this. The leases in the database distribute the webhooks over the processes, and a webhook
whose process was killed goes on at another one when its lease has ended. No dispatcher waits for another.
"""

import asyncio
from datetime import UTC, datetime
from uuid import uuid4

import structlog

from services.gateway.stream.reading import EventReader
from services.gateway.webhooks.dispatcher import Dispatcher, LeaseLost, Patience
from services.gateway.webhooks.sender import Sender
from services.runtime.bus import Bus, Notification
from services.runtime.errors import StageError, Unavailable
from services.runtime.metrics import WEBHOOK_AGE_SECONDS, WEBHOOK_DELIVERIES, WEBHOOKS_OFF, begin_values
from services.runtime.polling import pause
from services.store.access.webhooks import Webhooks
from services.store.battles.event_tail import EventTail
from services.store.database import Database
from services.wire.subjects import RECORDED

log = structlog.get_logger(__name__)
_POLL = 2.0  # seconds after which a dispatcher looks for events without a notification
_REFRESH = 2.0  # seconds between two looks at the list of webhooks
_PAUSE = 0.1  # seconds between two rounds; what is recorded in between is read together


class Deliveries:
    """Sends the events of all webhooks whose leases this process gets.

    Args:
        database: The database.
        reader: Reads events.
        sender: Sends them.
        bus: Tells when an event was recorded; None to poll alone.
        patience: How long receivers are waited for.
        refresh: Seconds between two looks at the list of webhooks.
    """

    def __init__(
        self,
        database: Database,
        reader: EventReader,
        sender: Sender,
        bus: Bus | None = None,
        *,
        patience: Patience | None = None,
        refresh: float = _REFRESH,
    ) -> None:
        self._store, self._tail = Webhooks(database), EventTail(database)
        self._reader, self._sender, self._bus = reader, sender, bus
        self._patience, self._refresh = patience or Patience(), refresh
        self._owner = uuid4().hex
        self._dispatchers: dict[str, tuple[Dispatcher, asyncio.Event]] = {}
        begin_values(WEBHOOK_DELIVERIES, ("accepted", "retried", "given_up"))

    async def run(self, stop: asyncio.Event) -> None:
        """Send until `stop` is set; attempts that have begun are finished."""
        WEBHOOK_AGE_SECONDS.set_function(self._oldest_age)
        if self._bus is None:
            await self._run(stop)
            return
        async with self._bus.core_subscribe(RECORDED, self._recorded):
            await self._run(stop)

    async def _run(self, stop: asyncio.Event) -> None:
        tasks: dict[str, asyncio.Task[None]] = {}
        while not stop.is_set():
            try:
                switches = await self._store.switches()
                WEBHOOKS_OFF.set(list(switches.values()).count(False))
                for webhook_id, enabled in switches.items():
                    if enabled and (webhook_id not in tasks or tasks[webhook_id].done()):
                        tasks[webhook_id] = asyncio.create_task(self._deliver(webhook_id, stop))
            except Unavailable as error:
                log.warning("webhooks wait for the database", why=error.for_operators)
            tasks = {webhook_id: task for webhook_id, task in tasks.items() if not task.done()}
            await pause(self._refresh, stop)
        self._wake_all()
        await asyncio.gather(*tasks.values())

    async def _deliver(self, webhook_id: str, stop: asyncio.Event) -> None:
        """Send the events of one webhook as long as this process has its lease."""
        dispatcher = Dispatcher(
            store=self._store,
            tail=self._tail,
            events=self._reader,
            sender=self._sender,
            owner=self._owner,
            patience=self._patience,
        )
        wake = asyncio.Event()
        self._dispatchers[webhook_id] = (dispatcher, wake)
        try:
            while not stop.is_set():
                wake.clear()
                more = await dispatcher.deliver(webhook_id, stop)
                await pause(_PAUSE, stop)
                if not more:
                    await pause(_POLL, wake)
            await self._store.release(webhook_id, self._owner)
        except LeaseLost:
            pass  # looked at again with the list
        except StageError as error:
            log.warning("a webhook waits", webhook=webhook_id, why=error.detail)
        except Exception:
            log.exception("a webhook waits because of a bug", webhook=webhook_id)
        finally:
            del self._dispatchers[webhook_id]

    async def _recorded(self, _: Notification) -> None:
        self._wake_all()

    def _wake_all(self) -> None:
        for _, wake in self._dispatchers.values():
            wake.set()

    def _oldest_age(self) -> float:
        times = [dispatcher.oldest for dispatcher, _ in self._dispatchers.values()]
        oldest = min((time for time in times if time is not None), default=None)
        return 0.0 if oldest is None else (datetime.now(UTC) - oldest).total_seconds()
