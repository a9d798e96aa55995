"""The offline model for nuggetizer's prompts: the same facts and labels, in the lists that it reads.

    python -m benchmarks.nuggetizer_endpoint --port 8090 --latency 0.5 --latency-per-token 0.005

A prompt of nuggetizer is read into the material of ours, answered by the same heuristics, and the reply is
written as the list that the prompt asks for. Delays and the prompt cache are those of the offline model.
"""

import argparse
import ast
import json
from collections.abc import Sequence
from functools import partial

import uvicorn

from services.offline.answers import ParsedPrompt, Unanswerable, answer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.requests import ChatRequest
from services.runtime.llm.blocks import Block
from services.runtime.llm.replies import AssignmentReply, ImportanceReply, WindowReply

LIMIT = 30
QUERY, CONTEXT, PASSAGE = "Search Query: ", "\nContext:\n", "\nPassage: "
SO_FAR, LENGTH, NUGGETS = "\nInitial Nugget List: ", "\nInitial Nugget List Length: ", "\nNugget List: "


def reply_to(chat: ChatRequest, most: int = LIMIT) -> str:
    """The reply to a prompt of nuggetizer, which is told by the role that it gives the model.

    Args:
        chat: The request.
        most: Nuggets in a list at most.

    Raises:
        Unanswerable: The prompt is not one of nuggetizer's.
    """
    role, text = chat.first_message("system"), chat.first_message("user")
    if "NuggetizeLLM" in role:
        return _listed(_created(text)[:most])
    if "NuggetizeScoreLLM" in role:
        return _listed(_importance(text))
    if "NuggetizeAssignerLLM" in role:
        return _listed(_labels(text))
    raise Unanswerable(f"not a prompt of nuggetizer: {role[:80]}")


def _created(text: str) -> Sequence[str]:
    query, _, rest = text.partition(QUERY)[2].partition(CONTEXT)
    context, _, tail = rest.rpartition(f"\n{QUERY}")
    so_far = _read_list(tail.partition(SO_FAR)[2].rpartition(LENGTH)[0])
    documents = _segments(context)
    # The answers come first, in the first window, when there is no nugget yet.
    answers = 0 if so_far else 2
    blocks = [Block("query", "q", query)]
    blocks += [Block("answer", f"a{i}", text) for i, text in enumerate(documents[:answers], start=1)]
    blocks += [Block("chunk", f"c{i}", text) for i, text in enumerate(documents[answers:], start=1)]
    reply = answer("nuggets_window", _prompt([*blocks, *_nuggets(so_far)]))
    assert isinstance(reply, WindowReply)
    return reply.texts(so_far)


def _importance(text: str) -> Sequence[str]:
    query, _, rest = text.partition(QUERY)[2].partition(NUGGETS)
    reply = answer("importance", _prompt([Block("query", "q", query), *_nuggets(_first_list(rest))]))
    assert isinstance(reply, ImportanceReply)
    return [label.importance for label in reply.labels]


def _labels(text: str) -> Sequence[str]:
    query, _, rest = text.partition(QUERY)[2].partition(PASSAGE)
    passage, _, tail = rest.rpartition(NUGGETS)
    blocks = [Block("query", "q", query), *_nuggets(_first_list(tail)), Block("answer", "a", passage)]
    reply = answer("assignment", _prompt(blocks))
    assert isinstance(reply, AssignmentReply)
    return [label.label for label in reply.labels]


def _prompt(blocks: Sequence[Block]) -> ParsedPrompt:
    return ParsedPrompt(blocks, LIMIT, None)


def _nuggets(texts: Sequence[str]) -> list[Block]:
    return [Block("nugget", f"n{i}", text) for i, text in enumerate(texts, start=1)]


def _segments(context: str) -> list[str]:
    """The documents of a window: each begins a line with its number in brackets, in order."""
    marks, at = list[int](), 0
    while (at := f"\n{context}".find(f"\n[{len(marks) + 1}] ", at)) >= 0:
        marks.append(at)
    ends = [*(mark - 1 for mark in marks[1:]), len(context)]
    return [
        context[start + len(f"[{number}] ") : end]
        for number, (start, end) in enumerate(zip(marks, ends, strict=True), start=1)
    ]


def _first_list(text: str) -> list[str]:
    return _read_list(text.split("\n", 1)[0])


def _read_list(text: str) -> list[str]:
    return [str(item) for item in ast.literal_eval(text)]


def _listed(items: Sequence[str]) -> str:
    return json.dumps(items, ensure_ascii=False)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--latency", type=float, default=0.0)
    options.add_argument("--latency-per-token", type=float, default=0.0)
    options.add_argument("--nuggets", type=int, default=LIMIT, help="nuggets in a list at most")
    chosen = options.parse_args()
    faults = Faults(latency_s=chosen.latency, latency_per_token_s=chosen.latency_per_token)
    app = create_app(None, faults, reply_to=partial(reply_to, most=chosen.nuggets))
    uvicorn.run(app, host="127.0.0.1", port=chosen.port, log_level="warning")


if __name__ == "__main__":
    main()
