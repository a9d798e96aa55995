"""The judge `pairwise_documents`: which of two answers is better, given the relevant sources of each?

    relevance of the retrieved chunks  ->  those at the threshold or above, with their grades  ->  a verdict

The relevance is that of the evaluator `retrieval_relevance`: the same prompt, which is paid for once, whoever
asks it first.
"""

from collections.abc import Sequence

from pydantic import Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.judgment import OrderedVerdict
from nuggetstream.text.citations import without_citations
from services.judge.evaluator import Ask, Evaluator, Material, Order, Verdicts
from services.judge.grades import retrieval_relevance
from services.judge.options import VerdictOptions
from services.judge.verdicts.decisions import decision_task, verdict_by
from services.judge.verdicts.pairwise import SYSTEM
from services.offline.answers import verdict_decision, verdict_reply
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

VERSION = "pairwise-documents-1"
TASK = "verdict_documents"
FACTORS = "correctness, helpfulness, completeness, depth and level of detail"

_INSTRUCTIONS = (
    "Below are a query, the documents behind two answers that were found relevant (there may be none), a "
    "table with the relevance of each document (1: helps a little, 2: answers the query or a part of it) and "
    "why, the two answers, and a table of the documents that are sources of each answer.\n"
    "Decide which answer serves the person better. Weigh these factors: {factors}. Relevant documents show "
    "what a good answer can say; an answer that uses its own well is better than one that has them and does "
    "not. {citations} An answer with nothing in it loses to one that helps. Call it a tie only when neither "
    "is better.\n"
    "reasoning: two or three sentences that name what decided it. winner: first, second or tie."
)
_CITED = (
    "The answers cite sources by marks such as [1]; a mark counts only if its source bears the sentence out."
)
_UNCITED = "Citation marks were removed from the answers; their absence is no fault."
Relevant = tuple[Evidence, str]  # a chunk, and its relevance with the reason


class DocumentsOptions(VerdictOptions):
    """The options of a judge, and what is shown and weighed.

    Attributes:
        threshold: Smallest relevance, 0 to 2, of the documents that are shown.
        factors: What is weighed, in words; None for the evaluator's own factors.
        citations: Whether to keep the citation marks of the answers.
    """

    threshold: int = Field(1, ge=0, le=2)
    factors: str | None = Field(None, min_length=1, max_length=1000)
    citations: bool = True


def prompt(
    query: str, relevant: Sequence[Relevant], answers: tuple[str, str], first: Side, options: DocumentsOptions
) -> Prompt[VerdictReply]:
    """Asks which of two answers is better, with the answers in one order.

    Args:
        query: The user's question.
        relevant: The documents to show, which get the ids c1, c2 and so on.
        answers: Texts of the answers shown first and second.
        first: Side whose answer is shown first.
        options: Factors, and whether citation marks were kept.
    """
    texts = [chunk.text for chunk, _ in relevant]
    relevance = "\n".join(f"c{number} {said}" for number, (_, said) in enumerate(relevant, start=1))
    tables = [_sources(relevant, side) for side in (first, first.other)]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS.format(
            factors=options.factors or FACTORS, citations=_CITED if options.citations else _UNCITED
        ),
        blocks=(
            Block("query", "q", query),
            *(Block("chunk", f"c{number}", text) for number, text in enumerate(texts, start=1)),
            Block("relevance", "grades", relevance),
            Block("answer", "first", answers[0]),
            Block("answer", "second", answers[1]),
            Block("sources", "table", tables[0]),
        ),
        reply=VerdictReply,
        max_tokens=600,
        family=(query, *texts, relevance, *sorted(answers), *sorted(tables)),
    )


async def compare(ask: Ask, material: Material) -> Order:
    """The comparison of a battle with the relevant documents, whose relevance it asks for first."""
    options = material.own(DocumentsOptions)
    battle, relevant = material.battle, await _relevant(ask, material, options.threshold)
    kept = {
        side: battle.answer(side).text if options.citations else without_citations(battle.answer(side).text)
        for side in Side
    }

    async def order(first: Side) -> OrderedVerdict:
        asked = prompt(battle.query, relevant, (kept[first], kept[first.other]), first, options)
        return await verdict_by(ask, asked, first)

    return order


async def _relevant(ask: Ask, material: Material, threshold: int) -> Sequence[Relevant]:
    """The chunks whose relevance reaches the threshold, best ranked first."""
    chunks = {chunk.chunk_id: chunk for chunk in material.evidence}
    return [
        (chunks[grade.subject.document], f"{grade.value:g}" + (f": {grade.reason}" if grade.reason else ""))
        for grade in await retrieval_relevance.ASKED.grade(ask, material)
        if grade.subject.document in chunks and grade.value is not None and grade.value >= threshold
    ]


def _sources(relevant: Sequence[Relevant], first: Side) -> str:
    """Which documents are sources of the answer shown first, and of the second."""
    lines = []
    for name, side in (("first", first), ("second", first.other)):
        own = [f"c{n}" for n, (chunk, _) in enumerate(relevant, start=1) if side in chunk.cited_by]
        lines.append(f"{name}: {', '.join(own) or 'none'}")
    return "\n".join(lines)


EVALUATOR = Evaluator(
    name="pairwise_documents",
    summary="The better answer, given the relevant sources of each.",
    source="RAGElo, pairwise evaluator with annotated documents",
    calls="2, one per order, and 1 for the relevance unless `retrieval_relevance` asked for it",
    yields=Verdicts(compare),
    options=DocumentsOptions,
    offline={TASK: verdict_reply, decision_task(TASK): verdict_decision},
)
