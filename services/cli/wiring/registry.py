"""All services by name."""

import importlib
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

from nuggetstream.domain.pipeline import PIPELINE

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts
    from services.runtime.service import Service

CALLED = ("indexer", "rater")  # services that others call over gRPC
# In the order in which they start: services that others call come first.
SERVICES = tuple(dict.fromkeys([*CALLED, "recorder", *(stage.value for stage in PIPELINE), "gateway"]))

HTTP_PORT = 8080
# Default gRPC ports, for processes on one machine; in containers all ports may be the same.
_OF_STAGES = {stage.value: step.port for stage, step in PIPELINE.items()}
GRPC_PORTS = {"gateway": 7100, **_OF_STAGES, "rater": 7107, "recorder": 7108}


def wiring_of(name: str) -> str:
    """The module that wires a service."""
    return f"services.cli.wiring.{name}"


def open_service(name: str, parts: "Parts") -> "AbstractAsyncContextManager[Service]":
    """A service, for the duration of the block; imports what the service needs, and nothing else."""
    wiring: Any = importlib.import_module(wiring_of(name))
    service: AbstractAsyncContextManager[Service] = wiring.open_service(parts)
    return service
