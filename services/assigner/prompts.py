"""The prompt of the assigner, and the check of its reply."""

from collections.abc import Sequence

from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, every_id_once

VERSION = "assigner-1"

_SYSTEM = (
    "You check answers against an answer key. You are strict and literal: what counts is what the answer "
    "states, not what is true, likely or implied by the topic."
)

_INSTRUCTIONS = (
    "For every nugget of the key decide whether the answer states it:\n"
    "- support: the answer states the whole fact, in any words and any language;\n"
    "- partial_support: it states part of the fact, or a vaguer form of it;\n"
    "- not_support: it does not state it, or contradicts it.\n"
    "quote: the one sentence of the answer that states it, copied; empty for not_support. Give exactly one "
    "label for each nugget ID."
)


def assignment(query: str, nuggets: Sequence[Block], answer: str) -> Prompt[AssignmentReply]:
    """Asks which of the nuggets one answer states.

    Args:
        query: The user's question.
        nuggets: The nuggets to label, as blocks with ids.
        answer: Text of the answer.
    """
    ids = [nugget.id for nugget in nuggets]

    def check(reply: AssignmentReply) -> None:
        every_id_once((label.id for label in reply.labels), ids)

    return Prompt(
        task="assignment",
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), Block("answer", "a", answer), *nuggets),
        reply=AssignmentReply,
        max_tokens=200 + len(ids) * 90,
        check=check,
    )
