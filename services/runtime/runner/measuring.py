"""What the runner counts and times."""

from time import time

from opentelemetry import trace
from opentelemetry.trace import StatusCode

from services.runtime import metrics, tracing, work
from services.runtime.bus.message import Delivery


def delivered(label: str, delivery: Delivery) -> None:
    """Count a delivery; a first one also says how long its message waited."""
    metrics.DELIVERIES.labels(label, str(delivery.attempt > 1).lower()).inc()
    if delivery.attempt == 1:
        age = max(0.0, time() - delivery.published_at.timestamp())
        metrics.LAG_AGE_SECONDS.labels(label).set(age)


def attempted(label: str, outcome: str, seconds: float) -> None:
    """Observe an attempt, a successful one also by the arena of its battle; its span says how it ended."""
    span, subject = trace.get_current_span(), work.current()
    exemplar = {"trace_id": tracing.trace_id(span)} if span.is_recording() else None
    metrics.PROCESS_SECONDS.labels(label, outcome).observe(seconds, exemplar)
    span.set_attribute("nuggetstream.outcome", outcome)
    if outcome != "ok":
        span.set_status(StatusCode.ERROR, outcome)
    if subject is not None:
        span.set_attribute("nuggetstream.battle.id", subject.battle_id)
        span.set_attribute("nuggetstream.arena", subject.arena)
    if outcome == "ok" and subject is not None:
        metrics.STAGE_SECONDS.labels(metrics.arena_label(subject.arena), label).observe(seconds)
