"""nuggetizer on battles: run by llm.py in an environment of its own.

    python nuggetizer_peer.py BATTLES.json URL AT_ONCE RESULT.json

BATTLES.json is a list of {id, query, answers, documents}; documents begin with the answers. Its asynchronous
form is used, the faster one, and both answers are labelled at the same time. RESULT.json has for each battle
the seconds, the [input, cached, output] tokens of each call, and the labels of each answer.

nuggetizer counts the tokens of replies with tiktoken, which downloads a table for it, and does not use the
count; here a module that counts nothing stands in for tiktoken.
"""

import asyncio
import contextvars
import json
import os
import sys
import time
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

USAGE: contextvars.ContextVar[list[list[int]]] = contextvars.ContextVar("usage")


def without_token_table() -> None:
    """Put a module in the place of tiktoken whose encodings are empty."""
    module = types.ModuleType("tiktoken")
    encoding = types.SimpleNamespace(encode=lambda _: [])
    vars(module)["get_encoding"] = lambda _: encoding
    sys.modules["tiktoken"] = module


def counting(handler: Any) -> None:
    """Note the tokens of every completion of one of its model handlers."""
    create = handler.client.chat.completions.create

    async def counted(**arguments: Any) -> Any:
        completion = await create(**arguments)
        usage = completion.usage
        USAGE.get().append(
            [usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens]
        )
        return completion

    handler.client.chat.completions.create = counted


async def evaluate(nuggetizer: Any, battle: dict[str, Any]) -> dict[str, Any]:
    """Nuggets of one battle, and their labels for both answers."""
    from nuggetizer.core.types import Document, Query, Request

    usage: list[list[int]] = []
    USAGE.set(usage)
    began = time.perf_counter()
    documents = [Document(docid=str(i), segment=text) for i, text in enumerate(battle["documents"])]
    nuggets = await nuggetizer.create(Request(Query(battle["id"], battle["query"]), documents))
    labelled = await asyncio.gather(
        *(nuggetizer.assign(battle["query"], answer, nuggets) for answer in battle["answers"])
    )
    return {
        "id": battle["id"],
        "seconds": time.perf_counter() - began,
        "usage": usage,
        "labels": [[label.assignment for label in labels] for labels in labelled],
    }


async def evaluate_all(rows: Sequence[dict[str, Any]], url: str, at_once: int) -> list[dict[str, Any]]:
    """All battles, so many at once."""
    os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url}
    without_token_table()
    from nuggetizer.models.async_nuggetizer import AsyncNuggetizer

    nuggetizer = AsyncNuggetizer(model="offline-heuristic")
    for handler in (nuggetizer.creator_llm, nuggetizer.scorer_llm, nuggetizer.assigner_llm):
        counting(handler)
    free = asyncio.Semaphore(at_once)

    async def one(battle: dict[str, Any]) -> dict[str, Any]:
        async with free:
            return await evaluate(nuggetizer, battle)

    return await asyncio.gather(*map(one, rows))


def main(battles: str, url: str, at_once: str, result: str) -> None:
    rows = json.loads(Path(battles).read_text(encoding="utf-8"))
    found = asyncio.run(evaluate_all(rows, url, int(at_once)))
    Path(result).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
