"""An endpoint for embeddings in this process, and embedders that ask it."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from services.indexer.calls import EmbeddingCalls
from services.indexer.endpoint import EmbeddingEndpoint
from services.indexer.gathering import BatchLimits
from services.indexer.remote import Reference, RemoteEmbedder
from services.offline.app import create_app
from services.runtime.llm.accounting import Ledger
from services.runtime.llm.build import with_asgi
from services.runtime.llm.circuit import Circuit
from services.runtime.llm.exchange import Exchange, Names
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.retries import RetryPolicy
from tests.fakes import WordVectors


@dataclass
class Server:
    """The offline server, in front of which other responses can be put.

    Attributes:
        model: Its model.
        instead: Returns another response to the texts of a request; None where the server answers.
        requests: The texts of each request.
        most_at_once: Largest number of requests that ran at once.
        go: Requests wait for it.
    """

    model: WordVectors = field(default_factory=WordVectors)
    instead: Callable[[list[str]], Response | None] = lambda _: None
    requests: list[list[str]] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    most_at_once: int = 0
    go: asyncio.Event = field(default_factory=asyncio.Event)
    _running: int = 0

    def __post_init__(self) -> None:
        self.go.set()
        self._app = create_app(self.model.encode)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).json()
        self.requests.append(body["input"])
        self.forms.append(body["encoding_format"])
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        await self.go.wait()
        self._running -= 1

        async def again() -> Any:
            return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

        await (self.instead(body["input"]) or self._app)(scope, again, send)


def error(status: int, message: str = "no", **headers: str) -> Response:
    """An error of the API."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return JSONResponse(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


Connect = Callable[..., RemoteEmbedder]


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
async def connect(server: Server) -> AsyncIterator[Connect]:
    """Makes embedders that ask the server."""
    made: list[RemoteEmbedder] = []

    def make(
        *,
        limits: BatchLimits = BatchLimits(32, 8192),  # noqa: B008 - a constant
        reference: Reference | None = None,
        ledger: Ledger | None = None,
        attempts: int = 3,
        concurrency: int = 4,
        timeout_s: float = 20.0,
        slept: list[float] | None = None,
    ) -> RemoteEmbedder:
        client = openai.AsyncOpenAI(
            api_key="none", base_url="http://there.invalid/v1", max_retries=0, http_client=with_asgi(server)
        )

        async def sleep(seconds: float) -> None:
            if slept is not None:
                slept.append(seconds)
            await asyncio.sleep(0)

        names = Names("the embedding model", "NUGGETSTREAM_EMBEDDING_", "NUGGETSTREAM_EMBEDDING_URL")
        calls = EmbeddingCalls(
            endpoint=EmbeddingEndpoint(Exchange(client, timeout_s, names), "words"),
            circuit=Circuit("words", 2 * attempts, endpoint="there.invalid"),
            ledger=ledger or Ledger(),
            limit=AdaptiveLimit(concurrency, initial=concurrency),
            retries=RetryPolicy(attempts=attempts),
            rng=random.Random(0),
            sleep=sleep,
        )
        embedder = (
            RemoteEmbedder(calls, limits) if reference is None else RemoteEmbedder(calls, limits, reference)
        )
        made.append(embedder)
        return embedder

    yield make
    for embedder in made:
        await embedder.close()
