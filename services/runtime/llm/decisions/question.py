"""What is asked: a question about the material of a prompt, with the choices that it leaves."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.runtime.llm.lines import Lines

MAX_QUESTIONS = 400  # of one call of the OpenAI API


@dataclass(frozen=True, slots=True)
class Choice:
    """One possible answer.

    Attributes:
        letter: How a chat model writes it, one lower-case letter.
        value: Its name, as an endpoint for decisions gets it.
        description: When it applies.
    """

    letter: str
    value: str
    description: str

    def __post_init__(self) -> None:
        if len(self.letter) != 1 or not self.letter.islower():
            raise ValueError(f"a choice is one lower-case letter, not {self.letter!r}")


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Its texts are ours: material is referred to by the ID of its block, never repeated.

    Attributes:
        name: Identifies the question in the reply.
        text: The question.
        choices: What can be answered, at least two.
    """

    name: str
    text: str
    choices: tuple[Choice, ...]

    def __post_init__(self) -> None:
        if len(self.choices) < 2:
            raise ValueError(f"question {self.name!r} leaves no choice")
        for names in ([choice.letter for choice in self.choices], [choice.value for choice in self.choices]):
            if len(set(names)) < len(names):
                raise ValueError(f"question {self.name!r} has two choices of the same name")

    @property
    def letters(self) -> dict[str, str]:
        """The letter of each value."""
        return {choice.value: choice.letter for choice in self.choices}


def lines_of(questions: Sequence[Question]) -> Lines:
    """The form of the answers."""
    letters = sorted({letter for question in questions for letter in question.letters.values()})
    return Lines.labelled([question.name for question in questions], f"[{''.join(letters)}]")


def listed(questions: Sequence[Question]) -> str:
    """The questions as a part of the instructions of a chat model; the same choices are described once."""
    lines = []
    described: tuple[Choice, ...] | None = None
    for question in questions:
        lines.append(f"{question.name}. {question.text}")
        if question.choices != described:
            lines += [f"- {c.letter}, {c.value}: {c.description}" for c in question.choices]
            described = question.choices
    return "\n".join(lines)
