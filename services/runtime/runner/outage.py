"""Retry in place while the database or another service of the platform is away."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress

import structlog

from services.runtime import metrics
from services.runtime.errors import Outage

log = structlog.get_logger(__name__)

_LONGEST_PAUSE = 10.0  # seconds, so that work resumes soon after a long outage has ended


async def through_outages(
    attempt: Callable[[], Awaitable[None]],
    pause: Callable[[int], float],
    draining: asyncio.Event,
    label: str,
) -> bool:
    """Attempt until the database and the other services answer, however long they are away.

    A message that is handed back would use up its deliveries within seconds and end as a failure of its
    battle, although the battle is not at fault. Keeping it in flight costs nothing: the worker could not
    handle any other message either, and the rest waits in the stream.

    Args:
        attempt: Raises `Outage` when a part of the platform is away; other errors are passed on.
        pause: Seconds to wait after the n-th failed attempt, n from 1; at most ten are used.
        draining: Ends the waiting when set.
        label: Label of the stage in the metrics.

    Returns:
        True when an attempt succeeded, False when draining began first.
    """
    with ExitStack() as outage:
        for tries in itertools.count(1):
            try:
                await attempt()
            except Outage as error:
                if tries == 1:
                    log.warning("waiting for an outage to end", why=error.detail)
                    outage.enter_context(metrics.OUTAGE_WAITING.labels(label).track_inprogress())
            else:
                if tries > 1:
                    log.info("the outage has ended", tries=tries)
                return True
            with suppress(TimeoutError):
                await asyncio.wait_for(draining.wait(), min(pause(tries), _LONGEST_PAUSE))
            if draining.is_set():
                break
    return False
