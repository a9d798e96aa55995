"""A chat completion in parts, as server-sent events."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

from starlette.responses import StreamingResponse

_PIECES = 20  # parts of a text, at most


def streamed(
    completion: Mapping[str, Any], seconds: float, *, usage: bool, dropped: bool = False
) -> StreamingResponse:
    """The response that sends a completion in parts.

    Args:
        completion: The whole completion.
        seconds: Seconds that the model takes to write it.
        usage: Whether the last part counts the tokens.
        dropped: Whether the connection breaks half way.
    """
    return StreamingResponse(
        _events(completion, seconds, usage=usage, dropped=dropped), media_type="text/event-stream"
    )


async def _events(
    completion: Mapping[str, Any], seconds: float, *, usage: bool, dropped: bool
) -> AsyncIterator[bytes]:
    [choice] = completion["choices"]
    deltas = list(_deltas(choice))
    head = {name: completion[name] for name in ("id", "created", "model")}
    head |= {"object": "chat.completion.chunk"}
    last = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    parts = [{"choices": [{"index": 0, "finish_reason": None, **delta}]} for delta in deltas]
    parts += [{"choices": [last]}, *([{"choices": [], "usage": completion["usage"]}] if usage else [])]
    events = [_event(head | part) for part in parts] + [b"data: [DONE]\n\n"]
    sent = events[: len(events) // 2] if dropped else events
    for piece in sent if seconds else [b"".join(sent)]:  # what takes no time arrives in one piece
        await asyncio.sleep(seconds / len(events))
        yield piece
    if dropped:
        raise ConnectionResetError("simulated fault")


def _deltas(choice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The message in parts; a token whose probability is told is one."""
    message, logprobs = choice["message"], choice["logprobs"]
    yield {"delta": {"role": "assistant", "content": "", "refusal": message["refusal"]}}
    if logprobs is not None:
        for token in logprobs["content"]:
            yield {"delta": {"content": token["token"]}, "logprobs": {"content": [token]}}
        return
    text = message["content"] or ""
    size = max(1, -(-len(text) // _PIECES))
    for start in range(0, len(text), size):
        yield {"delta": {"content": text[start : start + size]}}


def _event(part: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(part)}\n\n".encode()
