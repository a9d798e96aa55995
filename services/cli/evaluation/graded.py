"""Waiting until the evaluators have graded all battles that were sent: their consumers have nothing left."""

import asyncio
from collections.abc import Sequence

import nats.errors

from nuggetstream.domain.pipeline import Stage
from services.runtime.bus import Bus
from services.runtime.polling import pause
from services.wire.evaluators import durable_of
from services.wire.subjects import STREAM_ARENA

_POLL = 0.2  # seconds


async def graded(bus: Bus, evaluators: Sequence[str], stop: asyncio.Event) -> bool:
    """Wait until every evaluator has graded or given up on every message, and that is recorded.

    Args:
        bus: Connection to the broker.
        evaluators: Names of the declared evaluators.
        stop: Event that ends the wait early.

    Returns:
        False when it was stopped before the end.
    """
    if not evaluators:
        return True
    for durables in (
        [durable_of(name) for name in evaluators],
        [Stage.RECORDER.value],
    ):  # the grades are recorded after the grading
        while await _work_left(bus, durables):
            if stop.is_set():
                return False
            await pause(_POLL, stop)
    return True


async def _work_left(bus: Bus, durables: Sequence[str]) -> bool:
    """Whether a consumer has messages; a broker that does not answer is asked again."""
    try:
        infos = [await bus.js.consumer_info(STREAM_ARENA, durable) for durable in durables]
    except (nats.errors.Error, TimeoutError):
        return True
    return any((info.num_pending or 0) + (info.num_ack_pending or 0) for info in infos)
