"""The judge's question as a decision: first, second or tie, with probabilities and without reasons."""

from collections.abc import Mapping
from math import exp
from typing import Any

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.judgment import OrderedVerdict, VoteProbabilities
from services.judge.evaluator import Ask
from services.offline.answers import decided as decided_by
from services.runtime.llm.decisions.question import Choice, Question, lines_of
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import VerdictReply

_FIRST, _SECOND, _TIE = "f", "s", "t"
_SOFTNESS = 0.1  # difference of margins that counts by a factor of e in the offline model's shares

_CHOICES = (
    Choice(_FIRST, "first", "answer first is better"),
    Choice(_SECOND, "second", "answer second is better"),
    Choice(_TIE, "tie", "neither is better"),
)
_BETTER = "better"
_QUESTION = Question(_BETTER, "Which answer serves the person better?", _CHOICES)
_REASONS = "\nreasoning:"  # begins what the instructions say about the reply of a chat model


def as_decision(prompt: Prompt[Any], asked: Mapping[str, str] | None = None) -> Prompt[DecisionReply]:
    """The prompt of a judge as a decision: the same material and criteria, without reasons.

    Args:
        prompt: What a chat model is asked; the last lines of its instructions are about the reply.
        asked: Name and text of every question; by default one, which answer is better.
    """
    questions = (_QUESTION,) if asked is None else tuple(Question(*q, _CHOICES) for q in asked.items())
    return Prompt(
        task=decision_task(prompt.task),
        version=f"{prompt.version}-decision",
        system=prompt.system,
        instructions=prompt.instructions.partition(_REASONS)[0],
        blocks=prompt.blocks,
        reply=DecisionReply,
        max_tokens=20 + 30 * len(questions),
        check=lambda reply: reply.check(questions),
        questions=questions,
        lines=lines_of(questions),
        family=prompt.family,
        spare=prompt.spare,
    )


def decision_task(task: str) -> str:
    """The task of a judge's prompt as a decision."""
    return f"{task}_decision"


async def verdict_by(ask: Ask, prompt: Prompt[VerdictReply], first: Side) -> OrderedVerdict:
    """The verdict of a prompt: by a decision where there is a model for them that does not decline."""
    decision = await ask.decide(as_decision(prompt))
    if decision is not None and decision.answers[0].letter is not None:
        return decided(decision.answers[0], first)
    reply = await ask(prompt)
    return OrderedVerdict(first, shown_to_side(reply.winner, first), reply.reasoning.strip())


def answered(shares: tuple[float, float, float], name: str = _BETTER) -> Answer:
    """The offline model's answer to a question: shares of first, second and tie, which add up to 1."""
    return decided_by(name, _FIRST + _SECOND + _TIE, shares)


def shares_of(margin: float, tie: float) -> tuple[float, float, float]:
    """Shares of first, second and tie for a margin of the first; a tie has most up to the margin `tie`.

    >>> [round(share, 2) for share in shares_of(0.2, 0.05)]
    [0.81, 0.01, 0.18]
    """
    weights = [exp(distance / _SOFTNESS) for distance in (margin, -margin, tie)]
    first, second, neither = (weight / sum(weights) for weight in weights)
    return first, second, neither


def decided(answer: Answer, first: Side) -> OrderedVerdict:
    """The verdict of an answer that was not declined, when side `first` was shown first."""
    value = next(choice.value for choice in _QUESTION.choices if choice.letter == answer.letter)
    winner = shown_to_side(value, first)
    return OrderedVerdict(first, winner, None, _probabilities(answer, first))


def shown_to_side(winner: str, first: Side) -> Vote:
    """The vote for "first", "second" or "tie", when side `first` was shown first."""
    sides = {"first": Vote(first.value), "second": Vote(first.other.value)}
    return sides.get(winner, Vote.TIE)


def _probabilities(answer: Answer, first: Side) -> VoteProbabilities | None:
    if answer.probabilities is None:
        return None
    shown = {first: answer.probabilities[_FIRST], first.other: answer.probabilities[_SECOND]}
    return VoteProbabilities(a=shown[Side.A], b=shown[Side.B], tie=answer.probabilities[_TIE])
