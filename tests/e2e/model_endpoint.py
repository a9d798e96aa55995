"""A model's endpoint on loopback that can be away in several ways, and counts what it is asked."""

import asyncio
import json
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
from tests.asgi import read_again


def _error(status: int, code: str | None = None) -> JSONResponse:
    return JSONResponse({"error": {"message": "no", "type": "error", "param": None, "code": code}}, status)


@dataclass
class ModelEndpoint:
    """The offline model behind a switch.

    Attributes:
        status: Status of every reply; 200 lets the model answer.
        answering: While it is not set, the model has received its requests and does not answer yet.
        filtered: Tasks to which the content filter objects.
        rejected: Number of replies with another status than 200, by status.
        answered: Number of answers, by the hash of the request.
        prompts: The messages of every request that was answered.
        models: Number of answers, by model and task.
    """

    status: int = 200
    answering: asyncio.Event = field(default_factory=asyncio.Event)
    filtered: set[str] = field(default_factory=set)
    rejected: Counter[int] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    prompts: list[list[dict[str, str]]] = field(default_factory=list)
    models: Counter[tuple[str, str]] = field(default_factory=Counter)
    model: ASGIApp = field(default_factory=lambda: create_app(None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if self.status != 200:
            self.rejected[self.status] += 1
            await _error(self.status)(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        if json.loads(body)["response_format"]["json_schema"]["name"] in self.filtered:
            self.rejected[400] += 1
            await _error(400, "content_filter")(scope, receive, send)
            return
        self.answered[content_hash(body.decode())] += 1
        sent = json.loads(body)
        self.prompts.append(sent["messages"])
        self.models[sent["model"], sent["response_format"]["json_schema"]["name"]] += 1

        await self.answering.wait()
        await self.model(scope, read_again(body, receive), send)

    def __post_init__(self) -> None:
        self.answering.set()

    @asynccontextmanager
    async def listening(self, port: int) -> AsyncIterator[None]:
        async with running(self, port=port):
            yield
