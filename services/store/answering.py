"""Whether the database answers: for readiness, and as a metric of every process."""

import asyncio

from sqlalchemy import text

from nuggetstream.domain.failure import Reason
from services.runtime import metrics
from services.runtime.errors import Outage, Unavailable
from services.runtime.polling import repeat
from services.store.database import Database
from services.store.unavailability import Busy

_INTERVAL = 15.0  # seconds
_WITHIN = 10.0  # seconds; longer than a transaction waits for a connection of its process


async def require_answer(database: Database, within: float) -> None:
    """Return if the database answers an empty query within some seconds.

    Raises:
        Unavailable: It does not; `Busy` where it was not asked.
    """
    try:
        async with asyncio.timeout(within), database.transaction() as tx:
            await tx.execute(text("SELECT 1"))
    except TimeoutError:
        detail = f"the database does not answer within {within:g} s"
        raise Outage(Reason.STORE_UNAVAILABLE, detail) from None


async def watch_answers(database: Database, stop: asyncio.Event) -> None:
    """Export every fifteen seconds whether the database answers this process, until `stop` is set.

    While all connections of the process are in use, the last value stays.
    """

    async def measure() -> None:
        answers = metrics.DATABASE_ANSWERS.labels(database.engine.dialect.name)
        try:
            await require_answer(database, _WITHIN)
        except Busy:
            return
        except Unavailable:
            answers.set(0)
        else:
            answers.set(1)

    await repeat(measure, _INTERVAL, stop)
