"""The judge `pairwise`: which of two answers is better, given the best passages?"""

from collections.abc import Sequence

from nuggetstream.domain.battle import Side
from nuggetstream.domain.judgment import OrderedVerdict
from services.judge.evaluator import Ask, Evaluator, Material, Order, Verdicts
from services.judge.verdicts.decisions import verdict_by
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

VERSION = "judge-3"
TASK = "verdict"

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


def prompt(query: str, first: str, second: str, evidence: Sequence[str]) -> Prompt[VerdictReply]:
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
        task=TASK,
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
        spare=tuple(block.id for block in chunks),
    )


async def compare(ask: Ask, material: Material) -> Order:
    """The comparison of a battle by the best passages."""
    battle, evidence = material.battle, [chunk.text for chunk in material.evidence]

    async def order(first: Side) -> OrderedVerdict:
        return await verdict_by(ask, prompt(battle.query, *battle.texts(first), evidence), first)

    return order


EVALUATOR = Evaluator(
    name="pairwise",
    summary="The better answer, given the best passages.",
    source="RAGElo and Search Arena Meets Nuggets, pairwise judges",
    calls="2, one per order",
    yields=Verdicts(compare),
)
