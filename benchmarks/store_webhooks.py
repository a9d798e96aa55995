"""Rounds of a webhook's dispatcher over the data of `benchmarks.store`.

    a cursor  ->  the dispatcher, as in a gateway  ->  what its queries cost; nothing is sent

The webhook is of an arena without battles, so a round reads the keys of events and their battles, and passes
over them: that is what each webhook costs in an installation of many arenas.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from benchmarks.store_costs import Cost, median
from benchmarks.store_data import UNTIL
from nuggetstream.views.battles import BattleView
from services.gateway.errors import UnknownBattle
from services.gateway.stream.reading import EventReader
from services.gateway.webhooks.dispatcher import Dispatcher, Patience
from services.gateway.webhooks.sender import Sender
from services.runtime.address_guard import GuardedBackend, SystemResolver
from services.store.access.webhooks import Webhook, Webhooks
from services.store.battles.battles import Battles
from services.store.battles.event_tail import EventTail
from services.store.database import Database


class HasDatabase(Protocol):
    """What is measured."""

    database: Database


async def measure_webhooks(world: HasDatabase) -> dict[str, Cost]:
    """Rounds of a dispatcher, by what there is to tell."""
    return {name: await median(once_more, 10) for name, once_more in (await rounds(world.database)).items()}


async def rounds(database: Database) -> dict[str, Callable[[], Awaitable[bool]]]:
    """A round of a webhook that has told everything, and one of a webhook with half of the events to go."""
    last = await EventTail(database).last()
    return {
        "webhook, nothing new": await _courier(database, "wh_done", last),
        "webhook, 100 events": await _courier(database, "wh_middle", last // 2),
    }


async def _courier(database: Database, name: str, cursor: int) -> Callable[[], Awaitable[bool]]:
    async def view(battle_id: str) -> BattleView:
        raise UnknownBattle(battle_id)

    hook = Webhook(
        id=name,
        arena="another",
        url="https://127.0.0.1/hook",
        secret="",
        kinds=[],
        tags=[],
        languages=[],
        created_at=UNTIL,
        cursor=cursor,
    )
    store, stop = Webhooks(database), asyncio.Event()
    await store.add(hook)
    dispatcher = Dispatcher(
        store=store,
        tail=EventTail(database),
        events=EventReader(Battles(database), view),
        sender=Sender(GuardedBackend(SystemResolver(), ())),
        owner="benchmark",
        patience=Patience(),
    )
    return lambda: dispatcher.deliver(name, stop)
