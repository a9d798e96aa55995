"""A slow endpoint on loopback, whose every step the test decides, on a clock that it moves."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.serve import running
from services.runtime.deadline import Deadline
from services.runtime.errors import ModelOutage, Retryable
from services.runtime.llm.blocks import Block
from tests.integration.llm.conftest import GOOD, LONG_S, Connect, assignment, refused

SILENCE_S = 600.0  # seconds of silence that the endpoint may have


def pass_seconds(seconds: float) -> None:
    """Move the clock of the running loop, by which silence and deadlines are measured."""
    loop = asyncio.get_running_loop()
    before = loop.time
    loop.time = lambda: before() + seconds  # type: ignore[method-assign]


def part(content: str = "", finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return f"data: {json.dumps({'model': 'slow-1', 'choices': [choice], **more})}\n\n"


@dataclass
class Slow:
    """Writes the parts of its reply one by one, each after the test has said so.

    Attributes:
        parts: The parts.
        before: Called before each part is written, with its number.
        hangs_before: Number of the part that is never written.
        requests: What it was asked.
        ended: Set when a response has ended, because it is complete or because the client has closed it.
    """

    parts: list[str]
    before: Callable[[int], None] = lambda _: None
    hangs_before: int | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.requests.append(await Request(scope, receive).json())
        response = await self.answer(self.requests[-1])
        await response(scope, receive, send)

    async def answer(self, asked: dict[str, Any]) -> Response:
        return StreamingResponse(self._written(), media_type="text/event-stream")

    async def _written(self) -> AsyncIterator[str]:
        try:
            for number, written in enumerate(self.parts):
                for _ in range(20):  # what was written before is read first: client and server share a loop
                    await asyncio.sleep(0)
                self.before(number)
                if number == self.hangs_before:
                    await asyncio.Event().wait()
                yield written
        finally:
            self.ended.set()


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    async with running(app) as url:
        yield url


def reply(text: str, size: int = 5) -> list[str]:
    """A streamed reply in parts of so many characters."""
    usage = {"prompt_tokens": 70, "completion_tokens": 9}
    texts = [part(text[start : start + size]) for start in range(0, len(text), size)]
    return [
        part(),
        *texts,
        part("", "stop"),
        f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n",
        "data: [DONE]\n\n",
    ]


async def test_a_call_that_makes_progress_is_never_cut(connect: Connect) -> None:
    server = Slow(reply(GOOD), before=lambda _: pass_seconds(0.9 * SILENCE_S))
    async with served(server) as url:
        ask = connect(url, timeout_s=SILENCE_S)
        answer = await ask()
    assert answer.value.labels[0].label == "support"
    assert (answer.model, answer.usage.input_tokens, answer.usage.output_tokens) == ("slow-1", 70, 9)
    [request] = server.requests
    assert (request["stream"], request["stream_options"]) == (True, {"include_usage": True})


async def test_a_call_that_falls_silent_is_cut_and_the_next_may_be_silent_for_longer(
    connect: Connect,
) -> None:
    server = Slow(reply(GOOD), hangs_before=3)
    server.before = lambda number: pass_seconds(2 * LONG_S) if number == 3 else None
    async with served(server) as url:
        ask = connect(url, timeout_s=SILENCE_S)
        with pytest.raises(ModelOutage, match="no answer from the model within"):
            await ask()
        await asyncio.wait_for(server.ended.wait(), 90)
    assert len(server.requests) == 2
    assert ask.model.endpoint.speed.silence(0) > SILENCE_S


async def test_waiting_for_a_turn_counts_against_no_deadline(connect: Connect) -> None:
    server = Slow(reply(GOOD), before=lambda _: pass_seconds(0.9 * SILENCE_S))
    async with served(server) as url:
        ask = connect(url, timeout_s=SILENCE_S, concurrency=1)

        async def attempt(number: int) -> str:
            async with Deadline(300.0):
                answer = await ask(assignment(f"It is {number} metres tall."), battle=f"b{number}")
            return str(answer.value.labels[0].label)

        assert await asyncio.gather(*map(attempt, range(4))) == ["support"] * 4
    assert len(server.requests) == 4


async def test_output_that_repeats_itself_is_cut_and_asked_for_again(connect: Connect) -> None:
    again = Slow([part("n1 s 3, ")] * 5000)
    async with served(again) as url:
        ask = connect(url)
        with pytest.raises(Retryable) as caught:
            await ask(assignment(max_tokens=4000))
    assert "it repeats itself" in (caught.value.admin_detail or "")
    assert len(again.requests) == 2
    *_, replied, request = again.requests[1]["messages"]
    assert len(replied["content"]) < 100
    assert "it repeats itself" in request["content"]


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ([part("{"), 'data: {"error": {"message": "slot unavailable"}}\n\n'], "slot unavailable"),
        ([part("{")], "ended before the reply did"),
        ([part("{"), "data: <html>\n\n"], "is no part of a chat completion"),
    ],
)
async def test_a_stream_that_breaks_is_a_fault_of_the_endpoint(
    connect: Connect, broken: list[str], said: str
) -> None:
    async with served(Slow(broken)) as url:
        with pytest.raises(ModelOutage) as caught:
            await connect(url)()
    assert said in (caught.value.admin_detail or "")


async def test_a_server_without_streaming_is_asked_for_whole_replies_from_then_on(connect: Connect) -> None:
    async with served(create_app(None, Faults(streaming=False))) as url:
        ask = connect(url)
        assert (await ask()).value.labels
        assert ask.model.endpoint.dialect.stream is False


async def test_a_server_that_counts_no_streamed_tokens_is_not_asked_to(connect: Connect) -> None:
    class Uncounted(Slow):
        async def answer(self, asked: dict[str, Any]) -> Response:
            if "stream_options" in asked:
                return refused(400, "Unrecognized request argument supplied: stream_options")
            return await super().answer(asked)

    server = Uncounted([part(GOOD), part("", "stop")])
    async with served(server) as url:
        ask = connect(url)
        assert (await ask()).value.labels
    assert server.requests[-1]["stream"] is True
    assert (await ask.model.ledger.for_battle("b1")).estimated == 1


async def test_a_short_answer_is_asked_for_as_a_whole(connect: Connect) -> None:
    async with served(create_app(None)) as url:
        ask = connect(url)
        assert (await ask(assignment(max_tokens=60))).value.labels
        assert ask.model.endpoint.dialect.stream is True


async def test_a_long_prompt_may_be_read_for_as_long_as_the_speed_so_far_says(connect: Connect) -> None:
    server = Slow(reply(GOOD))
    async with served(server) as url:
        ask = connect(url, timeout_s=1.0)
        await ask()
        ask.model.endpoint.speed.answered(work=1000, seconds=100.0)  # ten tokens per second
        server.before = lambda number: pass_seconds(300.0) if number == 0 else None
        long = assignment(blocks=(*assignment().blocks, Block("chunk", "c1", "The tower is tall. " * 200)))
        assert (await ask(long)).value.labels
    assert len(server.requests) == 2
