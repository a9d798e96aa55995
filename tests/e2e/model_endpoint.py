"""A model's endpoint on loopback that can be away in several ways, and counts what it is asked."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from nuggetstream.domain.identity import content_hash
from services.offline.app import create_app
from services.offline.serve import running


@dataclass
class ModelEndpoint:
    """The offline model behind a switch.

    Attributes:
        status: Status of every reply; 200 lets the model answer.
        rejected: Number of replies with another status than 200, by status.
        answered: Number of answers, by the hash of the request.
    """

    status: int = 200
    rejected: Counter[int] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    model: ASGIApp = field(default_factory=lambda: create_app(None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if self.status != 200:
            self.rejected[self.status] += 1
            body = {"error": {"message": "no", "type": "error", "param": None, "code": None}}
            await JSONResponse(body, self.status)(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        self.answered[content_hash(body.decode())] += 1

        async def again() -> dict[str, object]:
            return {"type": "http.request", "body": body, "more_body": False}

        await self.model(scope, again, send)

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        async with running(self, port=port):
            yield
