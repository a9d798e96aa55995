"""The assigner's question as a decision: one choice per nugget, with probabilities."""

from collections.abc import Sequence

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Assignment, Support, SupportProbabilities
from services.runtime.llm.assignment import SYSTEM
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.question import Choice, Question, lines_of
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt

VERSION = "assigner-decision-2"

_INSTRUCTIONS = "Below are a query, the nuggets of an answer key, and an answer to check against them."
_CHOICES = (
    Choice("s", "support", "the answer states the whole fact, in any words and any language"),
    Choice("p", "partial_support", "it states part of the fact, or a vaguer form of it"),
    Choice(
        "c",
        "contradiction",
        "it states something about the same thing that cannot be true if the fact is, such as another number",
    ),
    Choice("n", "not_support", "it does not state it and does not contradict it"),
)


def assignment_decision(
    query: str, nuggets: Sequence[Block], answer: str, other: str, among: Sequence[str] = ()
) -> Prompt[DecisionReply]:
    """Asks for each of the nuggets whether one answer states it.

    Args:
        query: The user's question.
        nuggets: The nuggets to label, as blocks with ids.
        answer: Text of the answer.
        other: Text of the other answer, for which the same is asked in a prompt that begins alike.
        among: Texts of all nuggets about which this answer is asked in several prompts, which begin alike,
            the answer before the nuggets; empty where one prompt asks about all.
    """
    questions = tuple(
        Question(nugget.id, f"Does the answer state nugget {nugget.id}?", _CHOICES) for nugget in nuggets
    )
    shown = Block("answer", "a", answer)
    return Prompt(
        task="assignment_decision",
        version=f"{VERSION}-apart" if among else VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), *((shown, *nuggets) if among else (*nuggets, shown))),
        reply=DecisionReply,
        max_tokens=100 + len(questions) * 10,
        check=lambda reply: reply.check(questions),
        questions=questions,
        lines=lines_of(questions),
        family=(query, *(among or (nugget.text for nugget in nuggets)), *sorted((answer, other))),
    )


def decided(nugget_id: str, side: Side, answer: Answer) -> Assignment | None:
    """The label that an answer gives a nugget; None when the model declined to decide."""
    if answer.letter is None:
        return None
    support = next(Support(choice.value) for choice in _CHOICES if choice.letter == answer.letter)
    by_letter = answer.probabilities
    shares = None if by_letter is None else {choice.value: by_letter[choice.letter] for choice in _CHOICES}
    probabilities = None if shares is None else SupportProbabilities(**shares)
    return Assignment(nugget_id=nugget_id, side=side, support=support, probabilities=probabilities)
