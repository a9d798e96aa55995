"""The bus: the connection to NATS, declarations of streams and consumers, and the pull loop."""

from services.runtime.bus.connection import Bus, BusClosed
from services.runtime.bus.message import Delivery, Notification, Outgoing, PubAck
from services.runtime.bus.settings import BusSettings, inbox_of
from services.runtime.bus.topology import (
    UNLIMITED,
    Backoff,
    ConsumerSpec,
    StreamSpec,
    describe_error,
    ensure,
    has_streams,
    remove_undeclared,
)

__all__ = [
    "UNLIMITED",
    "Backoff",
    "Bus",
    "BusClosed",
    "BusSettings",
    "ConsumerSpec",
    "Delivery",
    "Notification",
    "Outgoing",
    "PubAck",
    "StreamSpec",
    "describe_error",
    "ensure",
    "has_streams",
    "inbox_of",
    "remove_undeclared",
]
