"""The reply to a decision: one letter per question, with probabilities where the endpoint has them."""

import re
from collections.abc import Sequence
from math import isfinite
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from services.runtime.llm.decisions.question import Question
from services.runtime.llm.replies import Reply, every_id_once

LINE = re.compile(r"(?P<name>[^\s:]{1,200})[ \t:]+(?P<letter>[A-Za-z])(?![A-Za-z])\.?")
_EXAMPLE = "n1 s"
_SUM_ERROR = 0.02  # by which probabilities may miss 1, since endpoints round them


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


class Answer(BaseModel):
    """The answer to one question.

    Attributes:
        name: Name of the question.
        letter: The choice; None when the model declined to answer this question.
        probabilities: Probability of each letter, together 1; None when the endpoint does not give any.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: str
    letter: Annotated[str | None, BeforeValidator(_lower)]
    probabilities: dict[str, float] | None = None

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        match = LINE.fullmatch(value.strip())
        if match is None:
            raise ValueError(f"not a line like {_EXAMPLE!r}")
        return match.groupdict()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"type": "string", "description": f"such as {_EXAMPLE!r}"}


class DecisionReply(Reply):
    """Reply to a decision: an answer to every question."""

    form = "Answer each question by one line: its name and one letter; for example: n1 s"
    answers: list[Answer]

    def check(self, questions: Sequence[Question]) -> None:
        """Check that every question is answered by one of its choices.

        Raises:
            ValueError: An answer is missing, unknown, repeated or no choice of its question, or probabilities
                are not those of its choices.
        """
        every_id_once((answer.name for answer in self.answers), [question.name for question in questions])
        letters = {question.name: set(question.letters.values()) for question in questions}
        for answer in self.answers:
            _check(answer, letters[answer.name])


def _check(answer: Answer, letters: set[str]) -> None:
    if answer.letter is not None and answer.letter not in letters:
        raise ValueError(f"{answer.name}: the letter must be one of {', '.join(sorted(letters))}")
    if answer.probabilities is None:
        return
    shares = list(answer.probabilities.values())
    if not all(isfinite(share) and 0 <= share <= 1 for share in shares):
        raise ValueError(f"{answer.name}: a probability is not between 0 and 1")
    if answer.probabilities.keys() != letters or abs(sum(shares) - 1) > _SUM_ERROR:
        raise ValueError(f"{answer.name}: the probabilities are not those of its choices")
