"""Grades that are choices on a scale: decisions where there is a model for them, else lines of a reply.

    items  ->  decision?  ──answered──>  value, confidence, probabilities
                   │
                   └──declined, or no such model──>  chat  ->  value, reason

The items that a model declines to decide are asked again as lines. Both ways give the same values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nuggetstream.domain.grade import Grade, Subject, ValueProbability
from services.judge.evaluator import Ask
from services.judge.grades.lines import GradesReply
from services.offline.answers import Heuristic, ParsedPrompt, decided
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.question import MAX_QUESTIONS, Choice, Question, lines_of
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt

DECISION = "_decision"  # after the name of a task


@dataclass(frozen=True, slots=True)
class Level:
    """One value of a scale.

    Attributes:
        value: The value.
        name: The value as a word, whose first letter is how a chat model writes it in a decision.
        description: When it applies.
    """

    value: float
    name: str
    description: str

    @property
    def choice(self) -> Choice:
        """The value as a possible answer."""
        return Choice(self.name[0], self.name, self.description)


@dataclass(frozen=True, slots=True)
class Choosing:
    """How items are graded.

    Attributes:
        levels: The scale.
        instructions: What a decision is about; its questions follow.
        question: The question about the item with an id.
        lines: The prompt that asks for lines about the items with some ids.
    """

    levels: Sequence[Level]
    instructions: str
    question: Callable[[str], str]
    lines: Callable[[Sequence[str]], Prompt[GradesReply]]

    def decision(self, ids: Sequence[str]) -> Prompt[DecisionReply]:
        """The prompt that asks for decisions about items."""
        asked = self.lines(ids)
        choices = tuple(level.choice for level in self.levels)
        questions = tuple(Question(name, self.question(name), choices) for name in ids)
        return Prompt(
            task=asked.task + DECISION,
            version=f"{asked.version}-decision",
            system=asked.system,
            instructions=self.instructions,
            blocks=asked.blocks,
            reply=DecisionReply,
            max_tokens=100 + 10 * len(ids),
            check=lambda reply: reply.check(questions),
            questions=questions,
            lines=lines_of(questions),
            family=asked.family,
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """The value of one item; what the model did not tell is None or empty."""

    value: float
    reason: str | None = None
    confidence: float | None = None
    probabilities: tuple[ValueProbability, ...] = ()

    def grade(
        self, subject: Subject, criterion: str, label: str | None = None, *, per_unit: float = 1.0
    ) -> Grade:
        """The grade of a subject.

        Args:
            subject: What was graded.
            criterion: Name of the criterion.
            label: The value as a word.
            per_unit: Values of the scale that was asked for per unit of the criterion's scale.
        """
        shares = tuple(
            ValueProbability(share.value / per_unit, share.probability) for share in self.probabilities
        )
        return Grade(
            subject=subject,
            criterion=criterion,
            value=self.value / per_unit,
            label=label,
            reason=self.reason,
            confidence=self.confidence,
            probabilities=shares,
        )


async def choose(ask: Ask, ids: Sequence[str], choosing: Choosing) -> dict[str, Chosen]:
    """The value of each item, by id.

    Args:
        ask: Asks the models.
        ids: Ids of the items, at least one.
        choosing: How they are graded.
    """
    reply = None if len(ids) > MAX_QUESTIONS else await ask.decide(choosing.decision(ids))
    answers = [] if reply is None else reply.answers
    chosen = {answer.name: _decided(answer, choosing.levels) for answer in answers if answer.letter}
    declined = [name for name in ids if name not in chosen]
    if declined:
        lines = (await ask(choosing.lines(declined))).grades
        chosen |= {line.name: Chosen(line.value, line.reason or None) for line in lines}
    return {name: chosen[name] for name in ids}


def _decided(answer: Answer, levels: Sequence[Level]) -> Chosen:
    value = next(level.value for level in levels if level.choice.letter == answer.letter)
    probabilities = answer.probabilities
    if probabilities is None or answer.letter is None:
        return Chosen(value)
    shares = tuple(ValueProbability(level.value, probabilities[level.choice.letter]) for level in levels)
    return Chosen(value, confidence=probabilities[answer.letter], probabilities=shares)


def offline_decisions(
    levels: Sequence[Level], kind: str, shares: Callable[[ParsedPrompt, Block], Sequence[float]]
) -> Heuristic:
    """How the offline model answers a decision: by the most probable value of each item.

    Args:
        levels: The scale.
        kind: Kind of the blocks about which questions are asked.
        shares: The probabilities of the levels for one block, together 1.
    """

    letters = "".join(level.choice.letter for level in levels)

    def offline(prompt: ParsedPrompt) -> DecisionReply:
        blocks = prompt.of(kind)
        return DecisionReply(answers=[decided(block.id, letters, shares(prompt, block)) for block in blocks])

    return offline
