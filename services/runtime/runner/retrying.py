"""Tell those who watch that an attempt failed and that another one follows."""

from contextlib import suppress
from typing import TypeVar

import nats.errors

from services.runtime.bus.connection import Bus
from services.runtime.bus.message import Delivery
from services.runtime.runner.policy import GiveUp
from services.runtime.stage import Stage

In = TypeVar("In")
Out = TypeVar("Out")


async def tell_retry(
    bus: Bus, stage: Stage[In, Out], delivery: Delivery, job: In | None, error: Exception, *, delay: float
) -> None:
    """Publish what the stage says about a retry; it is neither stored nor confirmed.

    Args:
        bus: Connection to the broker.
        stage: The stage whose attempt failed.
        delivery: The delivery of the message.
        job: The message; None where it could not be decoded, and nothing is told.
        error: Why the attempt failed.
        delay: Seconds until the next attempt.
    """
    if job is None:
        return
    failure = GiveUp.of(error).failure(stage.name, delivery.attempt)
    if (notice := stage.retried(job, failure, delay + stage.deadline)) is not None:
        with suppress(nats.errors.Error):
            await bus.core_publish(notice.subject, notice.body)
