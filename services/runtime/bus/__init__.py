"""The bus: one connection to NATS, streams and consumers as declarations, a pull loop that does not stall."""

from services.runtime.bus.connection import Bus, BusClosed
from services.runtime.bus.message import Delivery, Notification, Outgoing, PubAck
from services.runtime.bus.settings import BusSettings
from services.runtime.bus.topology import UNLIMITED, Backoff, ConsumerSpec, StreamSpec, ensure, in_words

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
    "ensure",
    "in_words",
]
