"""The judge's question as a decision: first, second or tie, with probabilities and without reasons."""

from collections.abc import Sequence

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.judgment import OrderedVerdict, VoteProbabilities
from services.judge.prompts import SYSTEM
from services.runtime.llm.blocks import Block
from services.runtime.llm.decisions.question import Choice, Question
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.prompt import Prompt

VERSION = "judge-decision-2"
_FIRST, _SECOND, _TIE = "f", "s", "t"

_INSTRUCTIONS = (
    "Below are a query, passages of web pages (there may be none, and sentences may be left out), and two "
    "answers. An answer serves the person if it addresses what was asked, is correct and borne out by the "
    "passages, covers what matters and is clear. An answer with nothing in it loses to one that helps."
)
_QUESTION = Question(
    "better",
    "Which answer serves the person better?",
    (
        Choice(_FIRST, "first", "answer first is better"),
        Choice(_SECOND, "second", "answer second is better"),
        Choice(_TIE, "tie", "neither is better"),
    ),
)


def verdict_decision(query: str, first: str, second: str, evidence: Sequence[str]) -> Prompt[DecisionReply]:
    """Asks which of two answers is better, with the answers in one order; arguments as for `verdict`."""
    chunks = [Block("chunk", f"c{i}", text) for i, text in enumerate(evidence, start=1)]
    return Prompt(
        task="verdict_decision",
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(
            Block("query", "q", query),
            *chunks,
            Block("answer", "first", first),
            Block("answer", "second", second),
        ),
        reply=DecisionReply,
        max_tokens=50,
        check=lambda reply: reply.check((_QUESTION,)),
        questions=(_QUESTION,),
        family=(query, *evidence, *sorted((first, second))),
    )


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
