"""Sends spans to a collector by OTLP, where the environment names one.

OpenTelemetry's SDK reads the standard variables: the collector (`OTEL_EXPORTER_OTLP_ENDPOINT`), its TLS and
headers, the sampler (`OTEL_TRACES_SAMPLER`), the attributes of the process (`OTEL_RESOURCE_ATTRIBUTES`).
While the collector is away, spans wait in a bounded queue and the oldest are dropped; nothing else waits.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import Any

from opentelemetry import trace

from services.runtime.tracing import begun_trace

_CLOSE_SECONDS = 2.0
_COLLECTORS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


def is_wanted(environment: Mapping[str, str]) -> bool:
    """Whether the environment names a collector, and does not turn traces off.

    >>> is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317"}), is_wanted({})
    (True, False)
    >>> is_wanted({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4317", "OTEL_TRACES_EXPORTER": "none"})
    False
    """
    off = (
        environment.get("OTEL_SDK_DISABLED", "").lower() == "true"
        or environment.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp"
    )
    return not off and any(environment.get(name) for name in _COLLECTORS)


@contextmanager
def exported(service: str, environment: Mapping[str, str]) -> Iterator[None]:
    """Export the spans of this process inside the block; on leaving, send what is left, for two seconds.

    Args:
        service: Name of the process, where OTEL_SERVICE_NAME names none.
        environment: Variables that say whether spans are exported.

    Raises:
        ValueError: Spans are to be exported, and the packages for it are not installed.
    """
    if not is_wanted(environment):
        yield
        return
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        exporting = provider(
            environment.get("OTEL_SERVICE_NAME") or service, [BatchSpanProcessor(OTLPSpanExporter())]
        )
    except ModuleNotFoundError as error:
        install = "pip install '.[tracing]' in a checkout, or unset OTEL_EXPORTER_OTLP_ENDPOINT"
        raise ValueError(f"{error.name} is not installed, which exports traces: {install}") from error
    trace.set_tracer_provider(exporting)
    try:
        yield
    finally:
        # It retries while the collector is away.
        sending = threading.Thread(target=exporting.shutdown, daemon=True)
        sending.start()
        sending.join(_CLOSE_SECONDS)


def client_interceptors() -> list[Any]:
    """What passes the trace on with gRPC calls; nothing where no spans are exported."""
    if not is_exporting():
        return []
    from opentelemetry.instrumentation.grpc import aio_client_interceptors  # only with the extra

    interceptors: Any = aio_client_interceptors
    return list(interceptors())


def server_interceptors() -> list[Any]:
    """What continues the caller's trace in gRPC calls, health checks excepted."""
    if not is_exporting():
        return []
    from opentelemetry.instrumentation.grpc import aio_server_interceptor, filters  # only with the extra

    interceptor: Any = aio_server_interceptor
    return [interceptor(filter_=filters.negate(filters.health_check()))]


def is_exporting() -> bool:
    """Whether this process makes spans."""
    # The API's own providers record nothing; the SDK's replaces them.
    return not type(trace.get_tracer_provider()).__module__.startswith("opentelemetry.trace")


def provider(service: str, processors: Iterable[Any]) -> Any:
    """A provider of OpenTelemetry's SDK, whose traces of battles have the battles' ids.

    Args:
        service: Name of the process.
        processors: What takes the spans.

    Raises:
        ModuleNotFoundError: The SDK is not installed.
    """
    from opentelemetry.sdk.resources import Resource  # only with the extra
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class BattleIds(RandomIdGenerator):
        """Gives the trace of a battle its id."""

        def generate_trace_id(self) -> int:
            return begun_trace() or super().generate_trace_id()

    resource = Resource.create({"service.name": service, "service.version": version("nuggetstream")})
    made = TracerProvider(resource=resource, id_generator=BattleIds(), shutdown_on_exit=False)
    for processor in processors:
        made.add_span_processor(processor)
    return made
