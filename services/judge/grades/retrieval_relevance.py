"""The evaluator `retrieval_relevance`: does each retrieved chunk help to answer the query?

One call for all chunks of a battle.
"""

from nuggetstream.domain.grade import Criterion
from services.judge.evaluator import Evaluator, Grades
from services.judge.grades.choices import Level
from services.judge.grades.each_chunk import EachChunk

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
_INSTRUCTIONS = (
    "Grade every document with 0, 1 or 2:\n"
    + ";\n".join(f"- {level.value:g}: {level.description}" for level in LEVELS)
    + ".\nGive exactly one grade for each document ID."
)

ASKED = EachChunk(
    task="retrieval_relevance",
    version="retrieval-relevance-1",
    system=_SYSTEM,
    instructions=_INSTRUCTIONS,
    material="Below are a query and documents that were found for it.",
    question="Does document {name} help to answer the query?",
    criterion=RELEVANCE,
    levels=LEVELS,
)

EVALUATOR = Evaluator(
    name="retrieval_relevance",
    summary="Relevance of each retrieved chunk for the query.",
    source="RAGElo, evaluators of retrieved documents",
    calls="1",
    yields=Grades(
        criteria=(RELEVANCE,),
        grade=ASKED.grade,
    ),
    offline=ASKED.offline(),
)
