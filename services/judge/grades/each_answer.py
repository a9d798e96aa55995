"""Evaluators that ask once per answer: the grades of both, one after the other."""

from collections.abc import Callable, Sequence

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import Grade, Subject
from services.judge.evaluator import Ask, Material
from services.judge.grades.lines import GradesReply
from services.runtime.llm.prompt import Prompt

PromptOf = Callable[[Side], Prompt[GradesReply]]


async def grade_answers(ask: Ask, material: Material, prompt_of: PromptOf) -> Sequence[Grade]:
    """The grades of both answers; an empty answer has none.

    The second prompt is asked after the first, so that its beginning is in the provider's cache.

    Args:
        ask: Asks the model.
        material: The battle.
        prompt_of: Returns the prompt about the answer of one side; its reply names criteria.
    """
    grades = list[Grade]()
    for side in Side:
        if material.battle.answer(side).text.strip():
            reply = await ask(prompt_of(side))
            grades += [line.grade(Subject.answer(side)) for line in reply.grades]
    return grades
