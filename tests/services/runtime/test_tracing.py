"""One trace per battle: where spans are exported, and where only the ids are passed on."""

import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from services.runtime import trace_export, tracing

PARENT = "00-" + "a" * 32 + "-" + "b" * 16 + "-01"
BATTLE = "0123456789abcdef" * 4  # the hash of an id


def ids(span: trace.Span) -> tuple[str, str]:
    context = span.get_span_context()
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


@pytest.mark.parametrize("text", ["", "00", "ff" + PARENT[2:], PARENT.replace("b" * 16, "0" * 16)])
def test_a_malformed_traceparent_is_no_parent(text: str) -> None:
    with tracing.span("hop", {"traceparent": text}) as span:
        assert tracing.trace_id(span) not in ("a" * 32, "0" * 32)


def test_a_hop_keeps_the_trace_of_its_sender() -> None:
    with tracing.span("hop", {"traceparent": PARENT}, battle=BATTLE) as span:
        assert tracing.trace_id(span) == "a" * 32
    assert not trace.get_current_span().get_span_context().is_valid


def test_what_is_sent_of_a_battle_is_in_its_trace_and_what_that_causes_too() -> None:
    with tracing.span("request"), tracing.span("send", battle=BATTLE) as sent:
        assert tracing.trace_id(sent) == tracing.trace_id_of(BATTLE) == BATTLE[:32]
        with tracing.span("inner", battle=BATTLE) as inner:
            assert tracing.trace_id(inner) == BATTLE[:32]


def test_the_header_is_lower_case_and_an_existing_one_stays() -> None:
    with tracing.span("hop", battle=BATTLE) as span:
        sent = tracing.inject({"schema": "x"})
        assert sent == {"schema": "x", "traceparent": "00-{}-{}-01".format(*ids(span))}
        line = f"traceparent: {sent['traceparent']}\r\n"
        assert len(line) == tracing.HEADER_BYTES
        assert tracing.inject({"traceparent": PARENT}) == {"traceparent": PARENT}
    assert tracing.inject({"schema": "x"}) == {"schema": "x"}


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """The SDK's provider as in a process that exports, with spans that stay in memory."""
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    provider, exporter = trace_export.provider("test", []), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_exported_spans_begin_the_trace_of_the_battle_and_link_to_the_request(
    exporter: InMemorySpanExporter,
) -> None:
    with tracing.span("request") as request, tracing.span("send", battle=BATTLE, kind=SpanKind.PRODUCER):
        header = tracing.inject({})
        with tracing.span("inner", battle=BATTLE):
            pass
    with tracing.span("process", header, battle=BATTLE):
        pass
    inner, send, asked, process = exporter.get_finished_spans()
    assert {tracing.trace_id(span) for span in (inner, send, process)} == {BATTLE[:32]}  # type: ignore[arg-type]
    assert send.parent is None
    assert [link.context for link in send.links] == [request.get_span_context()]
    assert asked.context.trace_id != send.context.trace_id
    assert {inner.parent.span_id, process.parent.span_id} == {send.context.span_id}  # type: ignore[union-attr]
    assert process.parent.is_remote  # type: ignore[union-attr]


def test_an_error_is_recorded_in_its_span(exporter: InMemorySpanExporter) -> None:
    with pytest.raises(ZeroDivisionError), tracing.span("divide"):
        raise ZeroDivisionError
    [span] = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR


def test_without_the_packages_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    with (
        pytest.raises(ValueError, match=r"is not installed.*pip install '.\[tracing\]'"),
        trace_export.exported("x", environment),
    ):
        pass
    with trace_export.exported("x", {}):  # nothing is to be exported
        assert not trace_export.client_interceptors()
        assert not trace_export.server_interceptors()


def test_a_collector_that_is_away_holds_up_the_end_of_a_process_for_a_moment_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released, ended = threading.Event(), threading.Event()

    def shutdown() -> None:  # as of an exporter that retries
        released.wait()
        ended.set()

    monkeypatch.setattr(trace_export, "_CLOSE_SECONDS", 0.05)
    monkeypatch.setattr(trace_export, "provider", lambda *_: SimpleNamespace(shutdown=shutdown))
    monkeypatch.setattr(trace, "set_tracer_provider", lambda _: None)
    with trace_export.exported("x", {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}):
        pass
    assert not ended.is_set()
    released.set()
    assert ended.wait(60)
