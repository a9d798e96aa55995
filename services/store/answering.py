"""Whether the database answers: for readiness, and as a metric of every process."""

import asyncio

from sqlalchemy import text

from services.runtime import metrics
from services.runtime.errors import Unavailable
from services.runtime.polling import repeat
from services.store.database import Database
from services.store.unavailability import BUSY

_INTERVAL = 15.0  # seconds
_WITHIN = 10.0  # seconds; longer than a transaction waits for a connection of its process


async def problem_of(database: Database, within: float) -> str | None:
    """Why the database cannot be used now; None where it answers an empty query within some seconds."""
    try:
        async with asyncio.timeout(within), database.transaction() as tx:
            await tx.execute(text("SELECT 1"))
    except Unavailable as error:
        return error.detail
    except TimeoutError:
        return f"the database does not answer within {within:g} s"
    return None


async def watch_answers(database: Database, stop: asyncio.Event) -> None:
    """Export every fifteen seconds whether the database answers this process, until `stop` is set.

    While all connections of the process are in use, the last value stays.
    """

    async def measure() -> None:
        if (problem := await problem_of(database, _WITHIN)) != BUSY:
            metrics.DATABASE_ANSWERS.labels(database.engine.dialect.name).set(problem is None)

    await repeat(measure, _INTERVAL, stop)
