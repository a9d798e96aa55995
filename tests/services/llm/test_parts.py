"""A streamed reply, joined."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from services.runtime.llm.parts import Broken, Joined, data_of


def part(content: str | None = None, finish: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": finish}
    return json.dumps({"model": "m", "choices": [choice], **more}).encode()


def joined(*parts: bytes, limit: int = 100) -> Joined:
    reply = Joined(limit)
    for data in parts:
        if not reply.add(data):
            break
    return reply


def test_parts_become_the_completion_that_they_are_parts_of() -> None:
    token = {"token": "Ti", "logprob": -0.1, "top_logprobs": []}
    first = json.dumps(
        {"choices": [{"delta": {"role": "assistant", "content": "Ti"}, "logprobs": {"content": [token]}}]}
    ).encode()
    counted = json.dumps({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}).encode()
    completion = joined(first, part("des"), part(None, "stop"), counted, b"[DONE]").completion()
    assert completion.choices[0].message.content == "Tides"
    assert completion.choices[0].finish_reason == "stop"
    assert [token.token for token in completion.choices[0].tokens] == ["Ti"]
    assert completion.usage is not None
    assert (completion.model, completion.usage.prompt_tokens) == ("m", 7)


def test_a_refusal_arrives_in_parts_too() -> None:
    parts = [json.dumps({"choices": [{"delta": {"refusal": word}}]}).encode() for word in ("I can", "not.")]
    message = joined(*parts, part(None, "stop")).completion().choices[0].message
    assert (message.refusal, message.content) == ("I cannot.", "")


def test_a_role_or_an_empty_part_is_no_beginning() -> None:
    assert not joined(
        json.dumps({"choices": [{"delta": {"role": "assistant", "content": ""}}]}).encode()
    ).has_begun
    assert joined(json.dumps({"choices": [{"delta": {"reasoning_content": "Hm."}}]}).encode()).has_begun


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ([part("Ti")], "ended before"),
        ([b'{"error": {"message": "out of memory"}}'], "out of memory"),
        ([b"<html>"], "no part of a chat completion"),
    ],
)
def test_a_stream_that_breaks_is_no_reply(parts: list[bytes], problem: str) -> None:
    with pytest.raises(Broken, match=problem):
        joined(*parts).completion()


def test_a_stream_without_a_reason_to_finish_is_complete_when_it_says_so() -> None:
    assert joined(part("Tides"), b"[DONE]").completion().choices[0].finish_reason is None


@pytest.mark.parametrize("written", [[part("They fall. ")] * 1000, [part(f"{n} ") for n in range(1000)]])
def test_a_reply_without_an_end_is_not_waited_for(written: list[bytes]) -> None:
    reply = Joined(limit=100)
    read = sum(1 for data in written if reply.add(data))
    assert read < 500
    assert reply.completion().choices[0].finish_reason == "length"


@pytest.mark.parametrize("size", [1, 7, 1000])
async def test_events_are_read_whatever_the_pieces_they_arrive_in(size: int) -> None:
    body = ': ping\r\ndata: {"a": "\u2028"}\r\n\r\nevent: x\ndata:{"b": 1}\n\ndata: [DONE]'.encode()

    async def received() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    assert [data async for data in data_of(received())] == [
        '{"a": "\u2028"}'.encode(),
        b'{"b": 1}',
        b"[DONE]",
    ]
