"""One trace per battle, over messages and gRPC, by OpenTelemetry.

The trace id is made of the hash of the battle's id, which the battle's messages have as a header. So whatever
is published of a battle at any time is part of one trace, and a page can name the trace without storing it.
`services.runtime.trace_export` sends the spans to a collector. Without it there are no spans, only the ids,
by which the logs of one battle are found.

Source: W3C Recommendation "Trace Context" (traceparent).
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, SpanKind, TraceFlags
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

TRACEPARENT = "traceparent"
HEADER_BYTES = len(f"{TRACEPARENT}: 00-{'0' * 32}-{'0' * 16}-00\r\n")  # what `inject` adds to a message
_PROPAGATOR = TraceContextTextMapPropagator()
_begun: ContextVar[int | None] = ContextVar("begun_trace", default=None)


def trace_id_of(battle: str) -> str:
    """The id of a battle's trace: 32 hexadecimal digits of the hash of its id."""
    return battle[:32]


def trace_id(span: Span) -> str:
    """The id of a span's trace: 32 hexadecimal digits."""
    return f"{span.get_span_context().trace_id:032x}"


def begun_trace() -> int | None:
    """The id that the trace which now begins is to have; None for a random one."""
    return _begun.get()


@contextmanager
def span(
    name: str,
    headers: Mapping[str, str] | None = None,
    *,
    battle: str | None = None,
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Mapping[str, Any] | None = None,
) -> Iterator[Span]:
    """Run a block in a span of its own; an exception that leaves the block is recorded in it.

    Its parent is the sender's span, else the current span. Where that is not of the battle's trace, the span
    is the first one there, and linked to the current span.

    Args:
        name: Name of the span.
        headers: Headers of the message that caused it.
        battle: Hash of the id of the battle that it is about, in hexadecimal digits.
        kind: Which side of a call or of a message it is.
        attributes: By the names of OpenTelemetry's semantic conventions, where there is one.
    """
    context, links = _parent(headers or {}, battle)
    token = _begun.set(None if battle is None else int(trace_id_of(battle), 16))
    try:
        tracer = trace.get_tracer("nuggetstream")
        begun = tracer.start_span(name, context, kind, attributes, links)
    finally:
        _begun.reset(token)
    if not begun.get_span_context().is_valid:  # nothing is exported
        begun = NonRecordingSpan(_ids(battle))
    with trace.use_span(begun, end_on_exit=True):
        yield begun


@contextmanager
def shared(callers: Iterable[Span]) -> Iterator[None]:
    """Run a block for several spans: inside a single one, or in a trace of its own that is linked to all."""
    recording = [caller for caller in dict.fromkeys(callers) if caller.is_recording()]
    if len(recording) > 1:
        links = [Link(caller.get_span_context()) for caller in recording]
        begun = trace.get_tracer("nuggetstream").start_span("group", Context(), links=links)
        with trace.use_span(begun, end_on_exit=True):
            yield
    elif recording:
        with trace.use_span(recording[0], record_exception=False, set_status_on_exception=False):
            yield
    else:
        yield


def inject(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the current traceparent added, unless they have one already."""
    carrier = dict(headers)
    if TRACEPARENT not in carrier:
        _PROPAGATOR.inject(carrier)
    return carrier


def _parent(headers: Mapping[str, str], battle: str | None) -> tuple[Context | None, list[Link]]:
    """The context of the parent, None for the current one, and links."""
    if TRACEPARENT in headers:
        sender = _PROPAGATOR.extract(headers, Context())
        if trace.get_current_span(sender).get_span_context().is_valid:
            return sender, []
    here = trace.get_current_span().get_span_context()
    if battle is None or (here.is_valid and here.trace_id == int(trace_id_of(battle), 16)):
        return None, []
    return Context(), [Link(here)] if here.is_valid else []


def _ids(battle: str | None) -> SpanContext:
    trace_id = secrets.randbits(128) if battle is None else int(trace_id_of(battle), 16)
    return SpanContext(trace_id, secrets.randbits(64), False, TraceFlags(TraceFlags.SAMPLED))
