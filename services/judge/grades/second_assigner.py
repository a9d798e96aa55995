"""The evaluator `second_assigner`: labels the nuggets once more, to find what one model is blind to.

It asks the question of the assigner, of a model of its own (NUGGETSTREAM_LLM_STAGES). Its labels stand beside
those of the assigner and are in no score. Each of its grades has the label that it is compared with at its
side, so that an edit of the list changes no comparison that was made. Two models are compared, so where a
person corrected a label, that of the model counts.
"""

from collections.abc import Sequence
from dataclasses import replace

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import Grade, Subject, SubjectKind
from nuggetstream.domain.nugget import Support
from nuggetstream.nuggets.label_agreement import FIRST, SECOND, VALUES
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.offline.answers import ParsedPrompt, assignment_reply
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.numbering import quoted
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply

TASK = "second_assignment"
_STRICTER = 0.1  # closeness by which the offline model asks more of a sentence than its first labels do


def prompt(material: Material, side: Side) -> Prompt[AssignmentReply]:
    """The assigner's question about one answer, with its labels, as a task of its own."""
    nuggets = [Block("nugget", f"n{i}", nugget.text) for i, nugget in enumerate(material.nuggets, start=1)]
    answer, other = (material.battle.answer(writer).text for writer in (side, side.other))
    asked = assignment(material.battle.query, nuggets, answer, other, contradictions=material.contradictions)
    return replace(asked, task=TASK)


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """A label for every nugget and answer with text; an empty answer is not a question for a model."""
    first = {(label.nugget_id, label.side): label.by_model.support for label in material.labels}
    grades: list[Grade] = []
    for side in Side:
        answer = material.battle.answer(side).text
        if not answer.strip() or not material.nuggets:
            continue
        reply = await ask(prompt(material, side))
        labels = {label.id: label for label in reply.labels}
        for number, nugget in enumerate(material.nuggets, start=1):
            label = labels[f"n{number}"]
            subject = Subject(SubjectKind.NUGGET, (side,), item=nugget.id)
            quote = quoted(answer, label.first, label.last)
            grades.append(_grade(subject, SECOND.name, Support(label.label), quote))
            if (compared := first.get((nugget.id, side))) is not None:
                grades.append(_grade(subject, FIRST.name, compared))
    return grades


def _grade(subject: Subject, criterion: str, support: Support, reason: str | None = None) -> Grade:
    return Grade(
        subject=subject,
        criterion=criterion,
        value=VALUES[support],
        label=support.value,
        reason=reason,
    )


def offline(prompt: ParsedPrompt) -> AssignmentReply:
    """The offline model's labels, which need closer sentences than those of the assigner."""
    return assignment_reply(prompt, stricter=_STRICTER)


EVALUATOR = Evaluator(
    name="second_assigner",
    summary="The labels of a second assigner for the same nuggets, to compare with the first's.",
    source="the assigner of Search Arena Meets Nuggets; agreement by Cohen's kappa (1960, 1968)",
    calls="2, one per answer with text",
    yields=Grades(
        criteria=(SECOND, FIRST),
        grade=grade,
    ),
    offline={TASK: offline},
)
