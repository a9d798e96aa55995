"""The evaluator `direct`: the relevance of each retrieved chunk, asked in four styles.

The styles ask for the same judgement in different words. Where they agree, a grade is more certain; where one
of them stands apart, that is a property of the question and not of the chunk. One call per style.
"""

from collections.abc import Sequence

from nuggetstream.domain.grade import Criterion, Grade
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.choices import Level
from services.judge.grades.each_chunk import EachChunk

_YES_NO = "0 no, 1 yes"
_SYSTEM = "You decide whether passages are relevant to a query. You judge each passage alone."
_MATERIAL = "Below are a query and passages. About each passage one question is asked:"
_BOTH = (Level(1, "yes", "yes"), Level(0, "no", "no"))


def _style(
    task: str,
    criterion: Criterion,
    question: str,
    levels: Sequence[Level] = _BOTH,
    scale: str = "1 for yes, 0 for no.",
) -> EachChunk:
    """One way to ask for the relevance of a passage; `scale` says how a chat model writes the levels."""
    return EachChunk(
        task=task,
        version="direct-1",
        system=_SYSTEM,
        instructions=f"{question} {scale}\nGive exactly one grade for each passage ID.",
        material=f"{_MATERIAL} {question}",
        question="What is the answer for passage {name}?",
        criterion=criterion,
        levels=levels,
    )


STYLES = (
    _style(
        "direct_answer",
        Criterion("contains_answer", _YES_NO, 0, 1),
        "Does the passage contain an answer to the query?",
    ),
    _style(
        "direct_useful",
        Criterion("answers_question", _YES_NO, 0, 1),
        "Could a person who has read only this passage answer the query?",
    ),
    _style(
        "direct_expert",
        Criterion("expert", _YES_NO, 0, 1),
        "You are an expert assessor of a search evaluation. Would you mark the passage as relevant?",
    ),
    _style(
        "direct_graded",
        Criterion("graded", "0-2", 0, 2),
        "Imagine that you write a report on the subject of the query.",
        (
            Level(2, "very", "the passage is very helpful for it"),
            Level(1, "parts", "parts of it help"),
            Level(0, "not", "it must not be shown"),
        ),
        "2: the passage is very helpful for it; 1: parts of it help; 0: it must not be shown.",
    ),
)


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The grades of every retrieved chunk in every style."""
    return [grade for style in STYLES for grade in await style.grade(ask, material)]


EVALUATOR = Evaluator(
    name="direct",
    summary="Relevance of each retrieved chunk, asked in four styles.",
    source="direct grading as compared by the Rubric-Grading Workbench",
    calls="4, one per style",
    yields=Grades(
        criteria=tuple(style.criterion for style in STYLES),
        grade=grade,
    ),
    offline={task: answer for style in STYLES for task, answer in style.offline().items()},
)
