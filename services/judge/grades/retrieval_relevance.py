"""The evaluator `retrieval_relevance`: does each retrieved chunk help to answer the query?

One call for all chunks of a battle. A grade names the chunk and the answers that cite its page, so that the
report can compare what the systems retrieved.
"""

from collections.abc import Mapping, Sequence

from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.choices import DECISION, Choosing, Level, choose, offline_decisions
from services.judge.grades.heuristics import closeness_of, line, reply_of, shares_of_query
from services.judge.grades.lines import GradesReply, graded, on_scales
from services.offline.answers import ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "retrieval-relevance-1"
TASK = "retrieval_relevance"
RELEVANCE = Criterion("relevance", "0-2", 0, 2)
LEVELS = (
    Level(2, "answers", "it answers the query, or an important part of it"),
    Level(1, "helps", "it is on the subject and helps a little, but does not answer the query"),
    Level(0, "not", "it does not help"),
)

_SYSTEM = (
    "You grade documents that a search engine found for a query. What counts is whether a document helps to "
    "answer the query, not whether it shares words with it."
)

_MATERIAL = "Below are a query and documents that were found for it."
_INSTRUCTIONS = (
    "Grade every document with 0, 1 or 2:\n"
    + ";\n".join(f"- {level.value:g}: {level.description}" for level in LEVELS)
    + ".\nGive exactly one grade for each document ID."
)


def prompt(query: str, documents: Mapping[str, str]) -> Prompt[GradesReply]:
    """Asks for the relevance of documents.

    Args:
        query: The user's question.
        documents: Their texts by id.
    """
    blocks = [Block("chunk", name, text) for name, text in documents.items()]
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), *blocks),
        reply=GradesReply,
        max_tokens=100 + 60 * len(blocks),
        check=on_scales({block.id: RELEVANCE for block in blocks}),
        lines=graded({block.id: RELEVANCE for block in blocks}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The relevance of the retrieved chunks; without any there is nothing to ask."""
    chunks = {f"c{number}": chunk for number, chunk in enumerate(material.evidence, start=1)}
    if not chunks:
        return []

    def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
        return prompt(material.battle.query, {name: chunks[name].text for name in ids})

    def question(name: str) -> str:
        return f"Does document {name} help to answer the query?"

    chosen = await choose(ask, list(chunks), Choosing(LEVELS, _MATERIAL, question, lines))
    return [value.grade(_document(chunks[name]), RELEVANCE.name) for name, value in chosen.items()]


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
    source="RAGElo, evaluators of retrieved documents",
    calls="1",
    yields=Grades(
        criteria=(RELEVANCE,),
        grade=grade,
    ),
    offline={TASK: offline, TASK + DECISION: offline_decisions(LEVELS, "chunk", shares_of_query)},
)
