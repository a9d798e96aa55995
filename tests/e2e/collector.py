"""A collector of traces: what the platform's processes export to it by OTLP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc


@dataclass(frozen=True)
class Exported:
    """A span that arrived.

    Attributes:
        service: Name of the process.
        name: Name of the span.
        trace: Id of its trace, in hexadecimal digits.
        id: Its own id.
        parent: Id of its parent; "" where it has none.
        attributes: Its attributes that are texts or integers.
    """

    service: str
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]


@dataclass
class Collector(trace_service_pb2_grpc.TraceServiceServicer):  # type: ignore[misc]
    """Receives spans on a port of loopback."""

    spans: list[Exported] = field(default_factory=list)

    async def Export(self, request: Any, context: Any) -> Any:  # noqa: N802 - the name in the contract
        for resource in request.resource_spans:
            [service] = [
                each.value.string_value for each in resource.resource.attributes if each.key == "service.name"
            ]
            for scope in resource.scope_spans:
                self.spans += [
                    Exported(
                        service,
                        span.name,
                        span.trace_id.hex(),
                        span.span_id.hex(),
                        span.parent_span_id.hex(),
                        {a.key: a.value.string_value or a.value.int_value for a in span.attributes},
                    )
                    for span in scope.spans
                ]
        return trace_service_pb2.ExportTraceServiceResponse()

    def trace(self, trace_id: str) -> list[Exported]:
        """The spans of one trace."""
        return [span for span in self.spans if span.trace == trace_id]

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """The URL to which spans are sent inside the block."""
        server = grpc.aio.server()
        trace_service_pb2_grpc.add_TraceServiceServicer_to_server(self, server)
        port = server.add_insecure_port("127.0.0.1:0")
        await server.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            await server.stop(0)
