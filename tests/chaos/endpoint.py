"""A model's endpoint that knows its callers, can be away, and notes every call that it answers."""

import time
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from nuggetstream.domain.identity import content_hash
from services.offline.app import create_app
from tests.asgi import read_again
from tests.chaos.conditions import Call


@dataclass
class Endpoint:
    """The offline model under one path per caller: `/CALLER/v1/chat/completions`.

    Attributes:
        away: Whether every request is answered by 503, which costs nothing.
        calls: Calls that were answered, in order.
        rejected: Number of requests while it was away.
    """

    away: bool = False
    calls: list[Call] = field(default_factory=list)
    rejected: int = 0
    model: ASGIApp = field(default_factory=lambda: create_app(None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if self.away:
            self.rejected += 1
            await JSONResponse({"error": {"message": "away"}}, 503)(scope, receive, send)
            return
        _, caller, path = scope["path"].split("/", 2)
        body = await Request(scope, receive).body()
        self.calls.append(Call(caller, content_hash(body.decode()), time.monotonic()))

        below = {**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}
        await self.model(below, read_again(body, receive), send)
