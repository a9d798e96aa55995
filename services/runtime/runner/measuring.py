"""What the runner counts and times."""

from time import time

from services.runtime import metrics, work
from services.runtime.bus.message import Delivery


def delivered(label: str, delivery: Delivery) -> None:
    """Count a delivery; a first one also says how long its message waited."""
    metrics.DELIVERIES.labels(label, str(delivery.attempt > 1).lower()).inc()
    if delivery.attempt == 1:
        age = max(0.0, time() - delivery.published_at.timestamp())
        metrics.LAG_AGE_SECONDS.labels(label).set(age)


def attempted(label: str, outcome: str, seconds: float) -> None:
    """Observe an attempt; a successful one also by the arena of its battle."""
    metrics.PROCESS_SECONDS.labels(label, outcome).observe(seconds)
    if outcome == "ok" and (subject := work.current()) is not None:
        metrics.STAGE_SECONDS.labels(metrics.arena_label(subject.arena), label).observe(seconds)
