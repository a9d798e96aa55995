"""The spans of messages, by OpenTelemetry's semantic conventions for messaging."""

from contextlib import AbstractContextManager

from opentelemetry.trace import Span, SpanKind

from services.runtime import tracing
from services.runtime.bus.message import BATTLE, Delivery, Outgoing


def sending(message: Outgoing) -> AbstractContextManager[Span]:
    """The span of a publication, in the trace of the battle that the message is about."""
    attributes = {
        "messaging.system": "nats",
        "messaging.operation.type": "send",
        "messaging.destination.name": message.subject,
        "messaging.message.id": message.id,
    }
    return tracing.span(
        f"send {message.subject}",
        message.headers,
        battle=message.headers.get(BATTLE),
        kind=SpanKind.PRODUCER,
        attributes=attributes,
    )


def processing(stage: str, delivery: Delivery) -> AbstractContextManager[Span]:
    """The span of a delivery to a stage, whose parent is the publication."""
    attributes = {
        "messaging.system": "nats",
        "messaging.operation.type": "process",
        "messaging.destination.name": delivery.subject,
        "messaging.message.id": delivery.id,
        "nuggetstream.stage": stage,
        "nuggetstream.attempt": delivery.attempt,
    }
    return tracing.span(
        f"process {delivery.subject} by {stage}",
        delivery.headers,
        battle=delivery.headers.get(BATTLE),
        kind=SpanKind.CONSUMER,
        attributes=attributes,
    )
