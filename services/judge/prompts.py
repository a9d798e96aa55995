"""The prompt of the judge."""

from collections.abc import Sequence

from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

VERSION = "judge-3"

SYSTEM = (
    "You compare two answers to the same query on behalf of the person who asked. You are impartial: the "
    "order in which answers are shown, their length and their confidence of tone earn nothing by themselves."
)

_INSTRUCTIONS = (
    "Decide which answer serves the person better: does it address what was asked, is it correct and borne "
    "out by the passages (where there are any; sentences may be left out), does it cover what matters, is "
    "it clear? An answer with nothing in it loses to one that helps. Call it a tie only if neither is "
    "better.\n"
    "reasoning: one sentence of at most 25 words that names what decided it. winner: first, second or tie."
)


def verdict(query: str, first: str, second: str, evidence: Sequence[str]) -> Prompt[VerdictReply]:
    """Asks which of two answers is better, with the answers in one order.

    The answers come last, so that the prompts for both orders begin alike.

    Args:
        query: The user's question.
        first: Text of the answer shown first.
        second: Text of the answer shown second.
        evidence: Texts of the chunks to show.
    """
    chunks = [Block("chunk", f"c{i}", text) for i, text in enumerate(evidence, start=1)]
    return Prompt(
        task="verdict",
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(
            Block("query", "q", query),
            *chunks,
            Block("answer", "first", first),
            Block("answer", "second", second),
        ),
        reply=VerdictReply,
        max_tokens=600,
        family=(query, *evidence, *sorted((first, second))),
    )
