"""Attempts that outlast an outage of the platform's own parts."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress

import structlog

from services.runtime import metrics
from services.runtime.errors import Outage

log = structlog.get_logger(__name__)

_LONGEST = 10.0  # seconds; once it is back, nothing should still sit out the pause of a long outage


async def through_outages(
    attempt: Callable[[], Awaitable[None]],
    pause: Callable[[int], float],
    draining: asyncio.Event,
    label: str,
) -> bool:
    """Attempt until the record and the other services answer, however long they are away.

    Handed back, a message would use up its deliveries within seconds and end as a failure of its
    battle, though no battle is at fault. Held, it costs nothing: the worker has nothing better to do,
    and the rest waits in the stream.

    Args:
        attempt: raises `Outage` when a part is away; anything else it raises is the caller's.
        pause: seconds to wait after the n-th refusal in a row, n from 1; cut to ten.
        draining: ends the waiting.
        label: of the stage, for the metrics.

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
                await asyncio.wait_for(draining.wait(), min(pause(tries), _LONGEST))
            if draining.is_set():
                break
    return False
