"""W3C trace context in message headers, with or without OpenTelemetry.

Where opentelemetry-api is installed and a tracer provider is configured, OpenTelemetry creates the spans.
Otherwise this module passes the trace id on by itself, so that the logs of one battle can be found by one
id even where nothing collects traces.

Source: W3C Recommendation "Trace Context", section 3.2 (traceparent). Header keys are lower case.
"""

import importlib
import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType

TRACEPARENT = "traceparent"
_FORM = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The current span and its trace.

    Attributes:
        trace_id: 32 hexadecimal digits, the same for all spans of one battle.
        span_id: 16 hexadecimal digits.
        flags: 2 hexadecimal digits; 01 means sampled.
    """

    trace_id: str
    span_id: str
    flags: str = "01"

    def header(self) -> str:
        """The value of the traceparent header."""
        return f"00-{self.trace_id}-{self.span_id}-{self.flags}"

    @staticmethod
    def parse(text: str) -> "TraceContext | None":
        """Parse a traceparent; None when it is malformed, as the specification requires.

        >>> TraceContext.parse("00-" + "a" * 32 + "-" + "b" * 16 + "-01").span_id
        'bbbbbbbbbbbbbbbb'
        >>> TraceContext.parse("00-" + "0" * 32 + "-" + "b" * 16 + "-01") is None
        True
        """
        match = _FORM.fullmatch(text.strip())
        if match is None:
            return None
        version, trace_id, span_id, flags, rest = match.groups()
        future_version = version != "00"
        if version == "ff" or (rest and not future_version) or not int(trace_id, 16) or not int(span_id, 16):
            return None
        return TraceContext(trace_id, span_id, flags)


_current: ContextVar[TraceContext | None] = ContextVar("trace_context", default=None)


def current() -> TraceContext | None:
    """The context of the running task; None outside any span."""
    otel = _opentelemetry()
    if otel is None:
        return _current.get()
    context = otel.get_current_span().get_span_context()
    if not context.is_valid:
        return None
    return TraceContext(f"{context.trace_id:032x}", f"{context.span_id:016x}", f"{context.trace_flags:02x}")


@contextmanager
def span(name: str, headers: Mapping[str, str] | None = None) -> Iterator[TraceContext]:
    """Run a block in a span of its own.

    Its parent is the sender's span, else the current span; without either it begins a new trace.

    Args:
        name: Name of the span; used only by OpenTelemetry.
        headers: Headers of the message that caused it.
    """
    parent = TraceContext.parse((headers or {}).get(TRACEPARENT, ""))
    otel = _opentelemetry()
    if otel is None:
        with _own_span(parent or _current.get()) as context:
            yield context
    else:
        with otel.get_tracer("nuggetstream").start_as_current_span(name, context=_remote(otel, parent)):
            yield current() or _new_trace()  # a provider that records nothing has no valid context


def inject(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with the current traceparent added, unless they have one already."""
    context = current()
    if context is None or TRACEPARENT in headers:
        return dict(headers)
    return {**headers, TRACEPARENT: context.header()}


@contextmanager
def _own_span(parent: TraceContext | None) -> Iterator[TraceContext]:
    context = _new_trace() if parent is None else replace(parent, span_id=secrets.token_hex(8))
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)


def _new_trace() -> TraceContext:
    return TraceContext(secrets.token_hex(16), secrets.token_hex(8))


@cache
def _imported() -> ModuleType | None:
    """OpenTelemetry's trace module; None where it is not installed, which is looked up once."""
    try:
        return importlib.import_module("opentelemetry.trace")
    except ImportError:
        return None


def _opentelemetry() -> ModuleType | None:
    """OpenTelemetry's trace module where a real provider was configured, else None."""
    trace = _imported()
    if trace is None:
        return None
    # The API's own providers record nothing; a configured SDK replaces them by its class.
    provider = type(trace.get_tracer_provider())
    return None if provider.__module__.startswith("opentelemetry.trace") else trace


def _remote(otel: ModuleType, parent: TraceContext | None) -> object | None:
    """The sender's context in OpenTelemetry's form; with None, the current span is the parent."""
    if parent is None:
        return None
    sender = otel.SpanContext(
        trace_id=int(parent.trace_id, 16),
        span_id=int(parent.span_id, 16),
        is_remote=True,
        trace_flags=otel.TraceFlags(int(parent.flags, 16)),
    )
    remote: object = otel.set_span_in_context(otel.NonRecordingSpan(sender))
    return remote
