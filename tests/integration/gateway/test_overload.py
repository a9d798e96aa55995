"""A gateway whose connections to the database are all in use says so, soon, and when to ask again."""

from contextlib import AsyncExitStack
from time import monotonic

from services.runtime.bus import Bus
from services.store.database import Database
from tests.integration.gateway.world import opened

_MOST = 15  # connections, of SQLite


async def test_a_request_that_gets_no_connection_is_told_that_the_gateway_is_busy(
    bus: Bus, record: Database
) -> None:
    database = Database(record.url, owner="gateway", wait=0.2)
    async with opened(bus, database) as world, AsyncExitStack() as stack:
        for _ in range(_MOST if database.is_sqlite else 4):
            await stack.enter_async_context(database.reading())
        started = monotonic()
        reply = await world.http.get("/v1/battles")
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
        assert (
            reply.json()["error"] == "the gateway is busy: all of its connections to the database are in use"
        )
        assert monotonic() - started < 25  # and not SQLAlchemy's 30 s
    await database.close()
