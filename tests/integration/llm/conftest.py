"""A scripted endpoint and clients for it; the sleeps between retries are noted, not slept."""

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import openai
import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from services.runtime.llm.accounting import Ledger
from services.runtime.llm.blocks import Block
from services.runtime.llm.build import ASGIApp, with_asgi
from services.runtime.llm.cache import ReplyCache
from services.runtime.llm.call_log import CallLog
from services.runtime.llm.client import LLMClient
from services.runtime.llm.endpoint import Endpoint
from services.runtime.llm.limiter import AdaptiveLimit
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, every_id_once
from services.runtime.llm.retries import RetryPolicy
from services.runtime.llm.stage_models import StageModel

GOOD = json.dumps({"labels": ["n1 s 1"]})
LONG_S = 3600.0
Step = Response | Callable[[], Awaitable[Response]]


def said(
    text: str | None, finish: str = "stop", *, refusal: str | None = None, usage: bool = True
) -> Response:
    """A chat completion that says this."""
    message = {"role": "assistant", "content": text, "refusal": refusal}
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110} if usage else None
    return JSONResponse(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": "scripted-1",
            "choices": [{"index": 0, "finish_reason": finish, "message": message}],
            "usage": counted,
        }
    )


def refused(status: int, message: str = "no", *, code: str | None = None, **headers: str) -> Response:
    """An error of the API."""
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return JSONResponse(body, status, {name.replace("_", "-"): value for name, value in headers.items()})


async def silence() -> Response:
    """No response: an hour passes on the clock of the loop as soon as the request has arrived."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + LONG_S
    await asyncio.Event().wait()
    raise AssertionError


@dataclass
class Scripted:
    """An endpoint that plays its steps in order, repeats the last, and remembers what it was asked."""

    steps: list[Step]
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        self.requests.append(await request.json())
        step = self.steps[min(len(self.requests), len(self.steps)) - 1]
        response = step if isinstance(step, Response) else await step()
        await response(scope, receive, send)


@dataclass
class Asking:
    """A client, and how long it would have slept."""

    model: LLMClient
    slept: list[float]

    async def __call__(self, prompt: Prompt[Any] | None = None, battle: str = "b1") -> Any:
        return await self.model.ask(prompt or assignment(), stage="assigner", battle_id=battle)


def assignment(answer: str = "It is 300 metres tall.", **changes: Any) -> Prompt[AssignmentReply]:
    """A small question."""

    def check(reply: AssignmentReply) -> None:
        every_id_once((label.id for label in reply.labels), ["n1"])

    blocks = (
        Block("query", "q", "How tall is the tower?"),
        Block("nugget", "n1", "The tower is 300 metres tall."),
        Block("answer", "A", answer),
    )
    given: dict[str, Any] = {
        "task": "assignment", "version": "1", "system": "You compare.", "instructions": "Label each nugget.",
        "blocks": blocks, "reply": AssignmentReply, "max_tokens": 200, "check": check,
    }  # fmt: skip
    return Prompt(**{**given, **changes})


Connect = Callable[..., Asking]


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """Makes clients: of an application in this process, or of a URL."""
    made: list[LLMClient] = []

    def make(
        to: ASGIApp | str,
        *,
        cache: ReplyCache | None = None,
        ledger: Ledger | None = None,
        timeout_s: float = 5.0,
        attempts: int = 4,
        concurrency: int = 8,
        log: CallLog | None = None,
        fallback: ASGIApp | None = None,
        options: StageModel | None = None,
    ) -> Asking:
        url, http = (to, None) if isinstance(to, str) else ("http://scripted.invalid/v1", with_asgi(to))
        sdk = openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http)
        second = None
        if fallback is not None:
            there = openai.AsyncOpenAI(
                api_key="other", base_url="http://fallback.invalid/v1", max_retries=0,
                http_client=with_asgi(fallback),
            )  # fmt: skip
            second = Endpoint(there, "fallback-1", timeout_s)
        slept: list[float] = []

        async def sleep(seconds: float) -> None:
            slept.append(seconds)
            await asyncio.sleep(0)

        model = LLMClient(
            Endpoint(sdk, "scripted-1", timeout_s), cache, ledger,
            limit=AdaptiveLimit(concurrency, initial=concurrency), retries=RetryPolicy(attempts=attempts),
            rng=random.Random(0), sleep=sleep, log=log, fallback=second, options=options,
        )  # fmt: skip
        made.append(model)
        return Asking(model, slept)

    yield make
    for model in made:
        await model.close()
