"""The evaluator `direct`: the relevance of each retrieved chunk, asked in four styles.

The styles ask for the same judgement in different words. Where they agree, a grade is more certain; where one
of them stands apart, that is a property of the question and not of the chunk. One call per style.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.choices import DECISION, Choosing, Level, choose, offline_decisions
from services.judge.grades.heuristics import closeness_of, line, reply_of, shares_of_query
from services.judge.grades.lines import GradesReply, graded, on_scales
from services.offline.answers import Heuristic, ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "direct-1"
_YES_NO = "0 no, 1 yes"
_SYSTEM = "You decide whether passages are relevant to a query. You judge each passage alone."

_MATERIAL = "Below are a query and passages. About each passage one question is asked:"
_BOTH = (Level(1, "yes", "yes"), Level(0, "no", "no"))


@dataclass(frozen=True, slots=True)
class Style:
    """One way to ask for the relevance of a passage.

    Attributes:
        criterion: What its answers are stored as.
        question: The question, about any passage.
        levels: The possible answers.
        scale: How a chat model writes them.
    """

    criterion: Criterion
    question: str
    levels: Sequence[Level] = _BOTH
    scale: str = "1 for yes, 0 for no."


# Styles by the name of their task.
STYLES: Mapping[str, Style] = {
    "direct_answer": Style(
        Criterion("contains_answer", _YES_NO, 0, 1), "Does the passage contain an answer to the query?"
    ),
    "direct_useful": Style(
        Criterion("answers_question", _YES_NO, 0, 1),
        "Could a person who has read only this passage answer the query?",
    ),
    "direct_expert": Style(
        Criterion("expert", _YES_NO, 0, 1),
        "You are an expert assessor of a search evaluation. Would you mark the passage as relevant?",
    ),
    "direct_graded": Style(
        Criterion("graded", "0-2", 0, 2),
        "Imagine that you write a report on the subject of the query.",
        (
            Level(2, "very", "the passage is very helpful for it"),
            Level(1, "parts", "parts of it help"),
            Level(0, "not", "it must not be shown"),
        ),
        "2: the passage is very helpful for it; 1: parts of it help; 0: it must not be shown.",
    ),
}


def prompt(task: str, query: str, documents: Mapping[str, str]) -> Prompt[GradesReply]:
    """Asks for the relevance of documents in one style.

    Args:
        task: Name of the style.
        query: The user's question.
        documents: Texts of the documents by id.
    """
    style = STYLES[task]
    blocks = [Block("chunk", name, text) for name, text in documents.items()]
    return Prompt(
        task=task,
        version=VERSION,
        system=_SYSTEM,
        instructions=f"{style.question} {style.scale}\nGive exactly one grade for each passage ID.",
        blocks=(Block("query", "q", query), *blocks),
        reply=GradesReply,
        max_tokens=100 + 60 * len(blocks),
        check=on_scales({block.id: style.criterion for block in blocks}),
        lines=graded({block.id: style.criterion for block in blocks}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The grades of every retrieved chunk in every style; without chunks there is nothing to ask."""
    chunks = {f"c{number}": chunk for number, chunk in enumerate(material.evidence, start=1)}
    if not chunks:
        return []
    return [grade for task in STYLES for grade in await _in_style(ask, task, material.battle.query, chunks)]


async def _in_style(ask: Ask, task: str, query: str, chunks: Mapping[str, Evidence]) -> list[Grade]:
    style = STYLES[task]

    def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
        return prompt(task, query, {name: chunks[name].text for name in ids})

    def question(name: str) -> str:
        return f"What is the answer for passage {name}?"

    choosing = Choosing(style.levels, f"{_MATERIAL} {style.question}", question, lines)
    return [
        chosen.grade(
            Subject(SubjectKind.DOCUMENT, chunks[name].cited_by, chunks[name].chunk_id), style.criterion.name
        )
        for name, chosen in (await choose(ask, list(chunks), choosing)).items()
    ]


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


def _decisions_of(style: Style) -> Heuristic:
    def shares(prompt: ParsedPrompt, block: Block) -> Sequence[float]:
        full, part, none = shares_of_query(prompt, block)
        return (full, part, none) if len(style.levels) > len(_BOTH) else (full + part, none)

    return offline_decisions(style.levels, "chunk", shares)


EVALUATOR = Evaluator(
    name="direct",
    summary="Relevance of each retrieved chunk, asked in four styles.",
    source="direct grading as compared by the Rubric-Grading Workbench",
    calls="4, one per style",
    yields=Grades(
        criteria=tuple(style.criterion for style in STYLES.values()),
        grade=grade,
    ),
    offline={task: _offline_of(style.criterion) for task, style in STYLES.items()}
    | {task + DECISION: _decisions_of(style) for task, style in STYLES.items()},
)
