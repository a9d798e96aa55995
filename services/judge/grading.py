"""How the grades of an evaluator's models become one set of grades.

    grades per model  ->  grades of the panel  ->  with those that follow from them

Each model grades the same material, on the same questions.
"""

from collections.abc import Sequence
from dataclasses import replace

from nuggetstream.domain.event import list_version_of
from nuggetstream.domain.grade import Grade, Grading, MemberGrades
from nuggetstream.domain.question_bank import QuestionBank
from services.judge.abstentions import asked_of_all, is_abstention
from services.judge.asking import Asking, versions_of
from services.judge.evaluator import Grades, Material
from services.judge.grades.bank import BankPrompt
from services.judge.options import GradeOptions
from services.judge.pooled_grades import aggregate_grades
from services.judge.question_banks import QuestionBanks
from services.runtime.errors import StageError
from services.wire.evaluators import Readable


async def grading_of(
    yields: Grades, event: Readable, material: Material, askings: Sequence[Asking], banks: QuestionBanks
) -> Grading:
    """The grades of one battle.

    Args:
        yields: How the evaluator asks.
        event: The event that it reads.
        material: What it is shown.
        askings: Its models.
        banks: The questions that battles with the same query share.

    Raises:
        Permanent: No more than half of the models answered.
    """
    material = replace(material, bank=await bank_of(yields, material, askings, banks))
    answers = await asked_of_all(askings, lambda asking: yields.grade(asking, material))
    options = material.own(GradeOptions)
    several, members = len(askings) > 1, list[MemberGrades]()
    for asking, (given, reason) in zip(askings, answers, strict=True):
        grades = () if given is None else _completed(yields, material, given)
        model = asking.answered if reason is None else asking.member.model.name
        members.append(MemberGrades(asking.member.name, model, grades, abstention=reason))
    grades = members[0].grades
    if several:
        given_values = [given for given, _ in answers if given is not None]
        grades = _completed(
            yields, material, aggregate_grades(given_values, len(members), options.aggregation)
        )
    return Grading(
        evaluator=askings[0].evaluator,
        model=", ".join(asking.member.model.name for asking in askings) if several else members[0].model,
        prompt_version=versions_of(askings),
        criteria=yields.criteria,
        grades=grades,
        bank=material.bank,
        list_version=list_version_of(event),
        members=tuple(members) if several else (),
        aggregation=options.aggregation if several else None,
    )


async def bank_of(
    yields: Grades, material: Material, askings: Sequence[Asking], banks: QuestionBanks
) -> QuestionBank | None:
    """The questions that some material is graded on; None where there is nothing to ask.

    Raises:
        StageError: No model gave any.
    """
    prompt = None if yields.bank is None else yields.bank(material)
    return None if prompt is None else await _bank(askings, prompt, banks)


async def _bank(askings: Sequence[Asking], prompt: BankPrompt, banks: QuestionBanks) -> QuestionBank:
    """The questions that all models grade on: those of the first one that makes some."""
    *others, last = askings
    for asking in others:
        try:
            return await banks.of(asking.battle, prompt, asking.member.model.name, asking.reply)
        except StageError as error:
            if not is_abstention(error):
                raise
    return await banks.of(last.battle, prompt, last.member.model.name, last.reply)


def _completed(yields: Grades, material: Material, given: Sequence[Grade]) -> tuple[Grade, ...]:
    """The grades with those that follow from them, which come first."""
    return (*yields.computed(material, given), *given)
