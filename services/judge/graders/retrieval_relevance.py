"""The evaluator `retrieval_relevance`: does each retrieved chunk help to answer the query?

One call for all chunks of a battle. A grade names the chunk and the answers that cite its page, so that the
report can compare what the systems retrieved.
"""

from collections.abc import Sequence

from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.graders.evaluator import Ask, Evaluator, Material
from services.judge.graders.heuristics import closeness_of, line, reply_of
from services.judge.graders.lines import GradesReply, on_scales
from services.offline.answers import ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "retrieval-relevance-1"
TASK = "retrieval_relevance"
RELEVANCE = Criterion("relevance", "0-2", 0, 2)

_SYSTEM = (
    "You grade documents that a search engine found for a query. What counts is whether a document helps to "
    "answer the query, not whether it shares words with it."
)

_INSTRUCTIONS = (
    "Grade every document with 0, 1 or 2:\n"
    "- 2: it answers the query, or an important part of it;\n"
    "- 1: it is on the subject and helps a little, but does not answer the query;\n"
    "- 0: it does not help.\n"
    "Give exactly one grade for each document ID."
)


def prompt(query: str, documents: Sequence[str]) -> Prompt[GradesReply]:
    """Asks for the relevance of documents, which get the ids c1, c2 and so on.

    Args:
        query: The user's question.
        documents: Their texts.
    """
    blocks = [Block("chunk", f"c{number}", text) for number, text in enumerate(documents, start=1)]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), *blocks),
        reply=GradesReply,
        max_tokens=100 + 60 * len(blocks),
        check=on_scales({block.id: RELEVANCE for block in blocks}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The relevance of the retrieved chunks; without any there is nothing to ask."""
    chunks = material.evidence
    if not chunks:
        return []
    reply = await ask(prompt(material.battle.query, [chunk.text for chunk in chunks]))
    lines = reply.by_name()
    return [
        lines[f"c{number}"].grade(_document(chunk), RELEVANCE.name)
        for number, chunk in enumerate(chunks, start=1)
    ]


def _document(chunk: Evidence) -> Subject:
    return Subject(SubjectKind.DOCUMENT, chunk.cited_by, chunk.chunk_id)


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: how much of the query's meaning or words a sentence of the chunk has."""
    shares = {block.id: closeness_of(prompt, block.text) for block in prompt.of("chunk")}
    return reply_of(
        *(
            line(RELEVANCE, share, f"its closest sentence matches the query to {share:.0%}", name)
            for name, share in shares.items()
        )
    )


EVALUATOR = Evaluator(
    name="retrieval_relevance",
    summary="Relevance of each retrieved chunk for the query.",
    criteria=(RELEVANCE,),
    source="RAGElo, evaluators of retrieved documents",
    calls="1",
    grade=grade,
    offline={TASK: offline},
)
