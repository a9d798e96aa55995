"""`POST /v1/decisions` of the OpenAI API: what is sent, and how the response is read."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import AliasPath, BaseModel, Field

from services.runtime.llm.decisions.question import Question
from services.runtime.llm.decisions.reply import Answer, DecisionReply

PATH = "/decisions"


class _Probability(BaseModel):
    value: str | bool
    probability: float


class _Answer(BaseModel):
    type: Literal["choice", "refusal"]
    choice: str | bool | None = None
    probabilities: list[_Probability] = []


class _Usage(BaseModel):
    input_tokens: int
    output_tokens: int
    cached_tokens: int = Field(0, validation_alias=AliasPath("input_tokens_details", "cached_tokens"))


class Decided(BaseModel):
    """A response.

    Attributes:
        answers: In the order of the questions.
        model: Name of the model as the server reports it.
        usage: Tokens as the server counted them.
    """

    answers: list[_Answer]
    model: str | None = None
    usage: _Usage | None = None

    def reply(self, questions: Sequence[Question]) -> DecisionReply:
        """The response in the form in which chat models reply, too.

        Raises:
            ValueError: The number of answers is not that of the questions, or a value is no choice.
        """
        if len(self.answers) != len(questions):
            raise ValueError(f"{len(self.answers)} answers to {len(questions)} questions")
        return DecisionReply(answers=[_read(q, a) for q, a in zip(questions, self.answers, strict=True)])


def parameters(material: Sequence[Mapping[str, Any]], questions: Sequence[Question]) -> dict[str, Any]:
    """The parameters of the request, except for the model.

    Args:
        material: The messages about which the questions are asked.
        questions: The questions, all of type `choice`.
    """
    return {
        "input": [{"type": "message", **message} for message in material],
        "questions": [
            {
                "type": "choice",
                "name": question.name,
                "instructions": question.text,
                "choices": [{"value": c.value, "description": c.description} for c in question.choices],
            }
            for question in questions
        ],
    }


def _read(question: Question, answer: _Answer) -> Answer:
    if answer.type == "refusal" or answer.choice is None:
        return Answer(name=question.name, letter=None)
    letters: dict[str | bool, str] = {choice.value: choice.letter for choice in question.choices}
    given = {share.value: share.probability for share in answer.probabilities}
    if unknown := {answer.choice, *given} - letters.keys():
        raise ValueError(f"{question.name}: {str(unknown.pop())[:40]!r} is none of its choices")
    probabilities = {letter: given.get(value, 0.0) for value, letter in letters.items()} if given else None
    return Answer(name=question.name, letter=letters[answer.choice], probabilities=probabilities)
