"""The evaluator `direct`: the relevance of each retrieved chunk, asked in four styles.

The styles ask for the same judgement in different words. Where they agree, a grade is more certain; where one
of them stands apart, that is a property of the question and not of the chunk. One call per style.
"""

from collections.abc import Mapping, Sequence

from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.graders.evaluator import Ask, Evaluator, Material
from services.judge.graders.heuristics import closeness_of, line, reply_of
from services.judge.graders.lines import GradesReply, on_scales
from services.offline.answers import Heuristic, ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "direct-1"
_YES_NO = "0 no, 1 yes"
_SYSTEM = "You decide whether passages are relevant to a query. You judge each passage alone."

# Name of the style -> its criterion and the question that it asks.
STYLES: Mapping[str, tuple[Criterion, str]] = {
    "direct_answer": (
        Criterion("contains_answer", _YES_NO, 0, 1),
        "Does the passage contain an answer to the query? 1 for yes, 0 for no.",
    ),
    "direct_useful": (
        Criterion("answers_question", _YES_NO, 0, 1),
        "Could a person who has read only this passage answer the query? 1 for yes, 0 for no.",
    ),
    "direct_expert": (
        Criterion("expert", _YES_NO, 0, 1),
        "You are an expert assessor of a search evaluation. Would you mark the passage as relevant? "
        "1 for yes, 0 for no.",
    ),
    "direct_graded": (
        Criterion("graded", "0-2", 0, 2),
        "Imagine that you write a report on the subject of the query. 2: the passage is very helpful for it; "
        "1: parts of it help; 0: it must not be shown.",
    ),
}


def prompt(task: str, query: str, documents: Sequence[str]) -> Prompt[GradesReply]:
    """Asks for the relevance of documents in one style.

    Args:
        task: Name of the style.
        query: The user's question.
        documents: Texts of the documents.
    """
    criterion, question = STYLES[task]
    blocks = [Block("chunk", f"c{number}", text) for number, text in enumerate(documents, start=1)]
    return Prompt(
        task=task,
        version=VERSION,
        system=_SYSTEM,
        instructions=f"{question}\nGive exactly one grade for each passage ID.",
        blocks=(Block("query", "q", query), *blocks),
        reply=GradesReply,
        max_tokens=100 + 60 * len(blocks),
        check=on_scales({block.id: criterion for block in blocks}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The grades of every retrieved chunk in every style; without chunks there is nothing to ask."""
    chunks, grades = material.evidence, list[Grade]()
    if not chunks:
        return grades
    texts = [chunk.text for chunk in chunks]
    for task, (criterion, _) in STYLES.items():
        lines = (await ask(prompt(task, material.battle.query, texts))).by_name()
        for number, chunk in enumerate(chunks, start=1):
            subject = Subject(SubjectKind.DOCUMENT, chunk.cited_by, chunk.chunk_id)
            grades.append(lines[f"c{number}"].grade(subject, criterion.name))
    return grades


def _offline_of(criterion: Criterion) -> Heuristic:
    def offline(prompt: ParsedPrompt) -> GradesReply:
        """How much of the query's meaning or words a sentence of the chunk has."""
        shares = {block.id: closeness_of(prompt, block.text) for block in prompt.of("chunk")}
        return reply_of(
            *(
                line(criterion, share, f"its closest sentence matches the query to {share:.0%}", name)
                for name, share in shares.items()
            )
        )

    return offline


EVALUATOR = Evaluator(
    name="direct",
    summary="Relevance of each retrieved chunk, asked in four styles.",
    criteria=tuple(criterion for criterion, _ in STYLES.values()),
    source="direct grading as compared by the Rubric-Grading Workbench",
    calls="4, one per style",
    grade=grade,
    offline={task: _offline_of(criterion) for task, (criterion, _) in STYLES.items()},
)
