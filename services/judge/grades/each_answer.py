"""Evaluators that ask once per answer: the grades of both, one after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import Criterion, Grade, Subject
from services.judge.evaluator import Ask, Material
from services.judge.grades.lines import GradesReply, of_criteria
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class EachAnswer:
    """The question that one evaluator asks about each answer, on several criteria.

    Attributes:
        task: Name of the task.
        version: Version of the texts.
        system: The model's role and way of working.
        instructions: What each grade means.
        criteria: What is graded.
        alone: Whether the answer is shown without the query and the evidence.
    """

    task: str
    version: str
    system: str
    instructions: str
    criteria: Sequence[Criterion]
    alone: bool = False

    def prompt(self, query: str, answer: str, other: str, evidence: Sequence[str]) -> Prompt[GradesReply]:
        """Asks for the grades of one answer: query and passages first, the answer last.

        Args:
            query: The user's question.
            answer: Text of the answer.
            other: Text of the other answer, whose prompt begins alike.
            evidence: Texts of the passages to compare it with.
        """
        shown = [] if self.alone else evidence
        passages = [Block("chunk", f"c{number}", text) for number, text in enumerate(shown, start=1)]
        asked = () if self.alone else (Block("query", "q", query),)
        return Prompt(
            task=self.task,
            version=self.version,
            system=self.system,
            instructions=self.instructions,
            blocks=(*asked, *passages, Block("answer", "a", answer)),
            reply=GradesReply,
            max_tokens=400,
            check=of_criteria(self.criteria),
            family=None if self.alone else (query, *evidence, *sorted((answer, other))),
            spare=tuple(block.id for block in passages),
        )

    async def grade(self, ask: Ask, material: Material) -> Sequence[Grade]:
        """The grades of both answers; an empty answer has none.

        The second prompt is asked after the first, so that its beginning is in the provider's cache.
        """
        battle, evidence = material.battle, [chunk.text for chunk in material.evidence]
        grades = list[Grade]()
        for side in Side:
            answer, other = battle.answer(side).text, battle.answer(side.other).text
            if answer.strip():
                reply = await ask(self.prompt(battle.query, answer, other, evidence))
                grades += [line.grade(Subject.answer(side)) for line in reply.grades]
        return grades
