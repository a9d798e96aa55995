"""Retry in place while the database, another service of the platform or the model is away."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass

import structlog

from services.runtime import metrics, polling
from services.runtime.errors import ModelOutage, Outage, Permanent

log = structlog.get_logger(__name__)

LONGEST_PAUSE = 5.0  # seconds, so that work resumes soon after a long outage has ended


async def through_outages(
    attempt: Callable[[], Awaitable[None]],
    pause: Callable[[int], float],
    draining: asyncio.Event,
    label: str,
    published_at: float = 0.0,
) -> bool:
    """Attempt until the database, the other services and the model answer.

    A message that is handed back would use up its deliveries within seconds and end as a failure of its
    battle, although the battle is not at fault. Keeping it in flight costs nothing: the worker could not
    handle any other message either, and the rest waits in the stream.

    Args:
        attempt: Raises `Outage` when a part of the platform is away; other errors are passed on.
        pause: Seconds to wait after the n-th failed attempt, n from 1; at most five are used.
        draining: Ends the waiting when set.
        label: Label of the stage in the metrics.
        published_at: Unix time at which the message was published; a message does not count the time
            before that as waiting.

    Returns:
        True when an attempt succeeded, False when draining began first.

    Raises:
        Permanent: The model was away for longer than the patience of a `ModelOutage`.
    """
    patience = _Patience(published_at)
    with ExitStack() as outage:
        for tries in itertools.count(1):
            try:
                await attempt()
            except Outage as error:
                patience.check(error)
                if tries == 1:
                    # What a model's endpoint said may repeat a prompt.
                    why = error.detail if isinstance(error, ModelOutage) else error.for_operators
                    log.warning("waiting for an outage to end", why=why)
                    outage.enter_context(metrics.OUTAGE_WAITING.labels(label).track_inprogress())
            else:
                if tries > 1:
                    log.info("the outage has ended", tries=tries)
                return True
            await polling.pause(min(pause(tries), LONGEST_PAUSE), draining)
            if draining.is_set():
                break
    return False


@dataclass(slots=True)
class _Patience:
    """How long one message has waited for the model.

    Attributes:
        published_at: Unix time at which the message was published.
        began: Unix time of the first attempt that failed for this outage; None before.
    """

    published_at: float
    began: float | None = None

    def check(self, outage: Outage) -> None:
        """Raise `Permanent` when the message has waited for the model for longer than it may.

        A message waits from the moment when the model went away, or from its own publication if that came
        later. The time during which another part of the platform is away does not count.
        """
        if not isinstance(outage, ModelOutage):
            self.began = None
            return
        now = time.time()
        self.began = now if self.began is None else self.began
        since = self.began if outage.since is None else min(self.began, outage.since)
        if now - max(since, self.published_at) >= outage.patience:
            waited = f"given up after waiting for {_duration(outage.patience)}"
            detail = f"{outage.detail}; {waited}"
            raise Permanent(outage.reason, detail, admin_detail=outage.admin_detail) from outage


def _duration(seconds: float) -> str:
    """A time span in its largest fitting unit.

    >>> _duration(21600), _duration(90), _duration(0.5)
    ('6 h', '1.5 min', '0.5 s')
    """
    for size, unit in ((3600.0, "h"), (60.0, "min")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
