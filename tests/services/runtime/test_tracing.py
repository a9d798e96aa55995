"""W3C trace context with and without OpenTelemetry."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from services.runtime import tracing
from services.runtime.tracing import TraceContext

PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"


@pytest.mark.parametrize(
    "text",
    ["", "00", PARENT.upper(), PARENT + "-more", "ff" + PARENT[2:], PARENT.replace("b" * 16, "0" * 16)],
)
def test_a_malformed_traceparent_starts_a_new_trace(text):
    assert TraceContext.parse(text) is None
    with tracing.span("hop", {"traceparent": text}) as context:
        assert context.trace_id != "a" * 32


def test_a_later_version_of_the_header_is_read_as_far_as_it_is_known():
    assert TraceContext.parse("01" + PARENT[2:] + "-more").trace_id == "a" * 32


def test_a_hop_keeps_the_trace_and_takes_a_span_of_its_own():
    with tracing.span("hop", {"traceparent": PARENT}) as context:
        assert (context.trace_id, context.flags) == ("a" * 32, "01")
        assert context.span_id != "b" * 16
        assert tracing.current() == context
    assert tracing.current() is None


def test_a_span_inside_a_span_is_its_child_and_gives_it_back():
    with tracing.span("outer") as outer:
        with tracing.span("inner") as inner:
            assert inner.trace_id == outer.trace_id
            assert inner.span_id != outer.span_id
        assert tracing.current() == outer


def test_the_header_is_lower_case_and_an_existing_one_stays():
    with tracing.span("hop") as context:
        assert tracing.inject({"schema": "x"}) == {"schema": "x", "traceparent": context.header()}
        assert tracing.inject({"traceparent": PARENT}) == {"traceparent": PARENT}
    assert tracing.inject({"schema": "x"}) == {"schema": "x"}


@pytest.fixture
def no_opentelemetry(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", None)
    tracing._imported.cache_clear()
    yield
    tracing._imported.cache_clear()


def test_without_opentelemetry_nothing_changes(no_opentelemetry):
    with tracing.span("hop", {"traceparent": PARENT}) as context:
        assert tracing.inject({})["traceparent"] == context.header()


def test_a_configured_opentelemetry_provider_makes_the_spans(monkeypatch):
    trace = pytest.importorskip("opentelemetry.trace")
    provider = _provider(trace)
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    with tracing.span("judge process", {"traceparent": PARENT}) as context:
        assert (context.trace_id, context.span_id) == ("a" * 32, "c" * 16)
        assert tracing.inject({})["traceparent"] == context.header()
    assert provider.started == [("judge process", int("b" * 16, 16))]


def _provider(trace: ModuleType):
    """A provider that is not the API's own: its tracer opens children with a known span id."""

    class Tracer(trace.NoOpTracer):
        def start_as_current_span(self, name, context=None, **_):
            sender = trace.get_current_span(context).get_span_context()
            provider.started.append((name, sender.span_id))
            child = trace.SpanContext(sender.trace_id, int("c" * 16, 16), False, sender.trace_flags)
            return trace.use_span(trace.NonRecordingSpan(child))

    provider = SimpleNamespace(started=[], get_tracer=lambda *_, **__: Tracer())
    return provider
