"""The prompt of built-in agents: an answer from passages, with marks of those that state it."""

from collections.abc import Sequence

from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AnswerReply

VERSION = "agent-1"
_TOKENS_PER_SENTENCE = 90

_SYSTEM = "You answer what people ask from passages of documents, and from nothing else."

_INSTRUCTIONS = (
    "Answer the query from the chunks, which a search has found.\n"
    "- State only what a chunk states. End each sentence with the numbers of the chunks that state it, such "
    "as [2] for c2 or [1, 4] for c1 and c4.\n"
    "- At most {limit} sentences in the language of the query, the most important first.\n"
    "- Where no chunk answers the query, say so in one sentence without a number."
)


def answer_prompt(query: str, passages: Sequence[str], limit: int) -> Prompt[AnswerReply]:
    """Asks for an answer.

    Args:
        query: The query.
        passages: Texts of the passages, best first; c1 is the first.
        limit: Largest number of sentences.
    """
    chunks = [Block("chunk", f"c{number}", text) for number, text in enumerate(passages, start=1)]
    return Prompt(
        task="answer",
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), *chunks),
        reply=AnswerReply,
        max_tokens=100 + limit * _TOKENS_PER_SENTENCE,
        parameters=(("limit", limit),),
        check=_not_blank,
        spare=tuple(block.id for block in chunks[1:]),
    )


def _not_blank(reply: AnswerReply) -> None:
    if not reply.answer.strip():
        raise ValueError("the answer is empty")
