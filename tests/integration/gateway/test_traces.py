"""What the gateway tells a collector of traces about requests."""

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from nuggetstream.domain.identity import content_hash
from services.runtime import trace_export, tracing
from tests.integration.gateway.world import World, submission


async def test_requests_link_to_the_battle_and_neither_probes_nor_tokens_are_exported(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    provider = trace_export.provider("test", [SimpleSpanProcessor(exporter)])
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    assert (await world.http.post("/v1/battles", json=submission())).status_code == 202
    await world.http.get("/readyz?only=traffic")
    await world.http.get("/embed/battles/tides?token=secret")
    spans = exporter.get_finished_spans()
    [request] = [span for span in spans if span.kind is trace.SpanKind.SERVER]
    assert request.name == "POST /v1/battles"
    [sent] = [span for span in spans if span.kind is trace.SpanKind.PRODUCER]
    assert tracing.trace_id(sent) == content_hash("tides")[:32]  # type: ignore[arg-type]
    assert [link.context.span_id for link in sent.links] == [request.context.span_id]
    assert not any("secret" in str(span.attributes) for span in spans)
