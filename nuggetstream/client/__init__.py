"""The typed client of the platform.

    with nuggetstream.Client("http://127.0.0.1:8080") as platform:
        battle = platform.submit_and_wait({"query": ..., "a": {...}, "b": {...}})

`Client` and `AsyncClient` differ in nothing but how they wait. What they ask (`battles`, `ratings`,
`administration`, `webhooks`), how they read replies (`replies`, `following`) and when they try again
(`exchange`, `patience`, `batches`) is pure and written once; `requests` makes methods of both clients of it.
"""

from nuggetstream.client.asynchronous import AsyncClient
from nuggetstream.client.errors import (
    Conflict,
    Forbidden,
    InternalError,
    Invalid,
    NotFound,
    NuggetstreamError,
    Rejected,
    Unauthenticated,
    Unavailable,
    UnexpectedReply,
)
from nuggetstream.client.following import Ended, Happened
from nuggetstream.client.streaming import Streamed
from nuggetstream.client.sync import Client
from nuggetstream.client.webhooks import webhook_event
from nuggetstream.views.signatures import InvalidSignature

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "Ended",
    "Forbidden",
    "Happened",
    "InternalError",
    "Invalid",
    "InvalidSignature",
    "NotFound",
    "NuggetstreamError",
    "Rejected",
    "Streamed",
    "Unauthenticated",
    "Unavailable",
    "UnexpectedReply",
    "webhook_event",
]
