"""A proxy before a model that records its replies, and the key by which a test finds them again.

    python -m benchmarks.real_model.recording MODEL_URL REPLIES.jsonl --port 8001

A recorded reply contains no text of the prompt, only a digest of the words of the query, the answers and the
nuggets that it is about: instructions, numbers of sentences and marks may change, and passages that another
machine ranks otherwise lead to the same reply.
"""

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any, TextIO

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from nuggetstream.domain.identity import derived_id
from services.offline.answers import Unanswerable
from services.offline.requests import ChatRequest
from services.runtime.llm.blocks import Block, parse

_SILENCE_S = 1800.0  # a slow processor reads a long prompt for minutes
_ABOUT = ("query", "answer", "nugget", "labels")
_UNORDERED = "nuggets"  # the task that shows both answers in an order that depends on the evidence
_EVENT = "data: {"
_NUMBER = re.compile(r"\[#\d+\]")
_WORD = re.compile(r"\w+")


def key_of(chat: ChatRequest) -> str:
    """Digest of what a request asks: task, material except for passages, and whether it is a repair.

    Raises:
        ValueError: A block of the prompt is not closed.
    """
    blocks = [block for block in parse(chat.first_message("user")) if block.kind in _ABOUT]
    texts = [
        [block.kind, *_named(block), *_WORD.findall(_NUMBER.sub("", block.text).casefold())]
        for block in blocks
    ]
    shown = sorted(texts) if chat.task == _UNORDERED else texts
    return derived_id("recorded reply", chat.task, len(chat.messages), shown)[:16]


def _named(block: Block) -> list[str]:
    """The ID of a block; answers have the ID of their place, which the order of the blocks tells."""
    return [] if block.kind == "answer" else [block.id]


class Recorder:
    """Forwards chat completions and writes what came back, a line for each reply.

    Args:
        url: Base URL of the model.
        file: Where the lines go.
        client: Sends requests to the model; the caller closes it.
    """

    def __init__(self, url: str, file: TextIO, client: httpx2.AsyncClient) -> None:
        self._url, self._file, self._client = url, file, client

    async def chat(self, request: Request) -> StreamingResponse:
        """Answer as the model does, byte for byte."""
        body = await request.body()
        url, headers = f"{self._url}/chat/completions", {"Content-Type": "application/json"}
        forwarded = self._client.build_request("POST", url, content=body, headers=headers)
        reply = await self._client.send(forwarded, stream=True)

        async def parts() -> AsyncIterator[bytes]:
            received = bytearray()
            try:
                async for part in reply.aiter_raw():
                    received += part
                    yield part
            finally:
                if reply.status_code == httpx2.codes.OK and received:  # also what the client has cut
                    self._record(ChatRequest.model_validate_json(body), received.decode(errors="replace"))
                await reply.aclose()

        return StreamingResponse(
            parts(), status_code=reply.status_code, media_type=reply.headers["content-type"]
        )

    def _record(self, chat: ChatRequest, received: str) -> None:
        text, finish, probable = said(received)
        line = {"task": chat.task, "key": key_of(chat), "finish": finish, "text": text}
        self._file.write(json.dumps(line | ({"logprobs": probable} if probable else {})) + "\n")
        self._file.flush()


class Replies:
    """Recorded replies; a request that was made several times gets its replies in their order.

    Args:
        lines: The lines that a `Recorder` wrote.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._asked = Counter[str]()
        for line in lines:
            reply = json.loads(line)
            self._texts[reply["key"]].append(reply["text"])

    def __call__(self, chat: ChatRequest) -> str:
        """The reply to a request.

        Raises:
            Unanswerable: None was recorded.
        """
        key = key_of(chat)
        if not (texts := self._texts.get(key)):
            raise Unanswerable(f"no reply of task {chat.task!r} was recorded for this material")
        number, self._asked[key] = self._asked[key], self._asked[key] + 1
        return texts[min(number, len(texts) - 1)]


def said(received: str) -> tuple[str, str | None, list[Any]]:
    """Text, reason of the end and log probabilities of a chat completion, whole or as server-sent events.

    Of a stream that was cut, the last line may be incomplete, and there is no reason.
    """
    lines = received.rpartition("\n")[0].splitlines()
    events = [line[len(_EVENT) - 1 :] for line in lines if line.startswith(_EVENT)]
    parts = [received] if received.lstrip().startswith("{") else events  # a stream may begin with comments
    choices = [choice for part in parts for choice in json.loads(part).get("choices", [])]
    turns = [choice.get("message") or choice.get("delta") or {} for choice in choices]
    text = "".join(turn.get("content") or "" for turn in turns)
    finish = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), None)
    probable = [token for c in choices for token in (c.get("logprobs") or {}).get("content") or []]
    return text, finish, probable


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("url", help="base URL of the model, such as http://127.0.0.1:8080/v1")
    options.add_argument("file", type=Path, help="replies are added to this file")
    options.add_argument("--port", type=int, required=True)
    chosen = options.parse_args()
    with chosen.file.open("a", encoding="utf-8") as file:
        recorder = Recorder(chosen.url, file, httpx2.AsyncClient(timeout=_SILENCE_S))
        app = Starlette(routes=[Route("/v1/chat/completions", recorder.chat, methods=["POST"])])
        uvicorn.run(app, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
