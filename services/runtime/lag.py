"""Consumer lag of a stage: messages waiting in its consumer, for dashboards and autoscaling."""

import asyncio
from collections.abc import Sequence
from typing import Any

import structlog
from nats.errors import Error

from services.runtime.bus import Bus
from services.runtime.metrics import LAG
from services.runtime.stage import Stage

log = structlog.get_logger(__name__)

_INTERVAL = 5.0  # seconds


async def watch_lag(bus: Bus, stages: Sequence[Stage[Any, Any]], stop: asyncio.Event) -> None:
    """Update the lag gauge of every stage until `stop` is set."""
    while not stop.is_set():
        for stage in stages:
            await _measure(bus, stage)
        try:
            await asyncio.wait_for(stop.wait(), _INTERVAL)
        except TimeoutError:
            continue


async def _measure(bus: Bus, stage: Stage[Any, Any]) -> None:
    spec = stage.consumer
    try:
        info = await bus.js.consumer_info(spec.stream, spec.durable)
    except (Error, TimeoutError) as error:
        # The gauge keeps its last value; other metrics show that the broker is away.
        log.debug("lag unknown", stage=stage.label, error=str(error))
        return
    LAG.labels(stage.label).set(info.num_pending or 0)
