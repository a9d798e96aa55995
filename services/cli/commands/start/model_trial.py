"""One of each question that the platform asks a model, on a battle whose answers everybody knows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.judgment import combine_orders, mean_probabilities
from services.assigner.decisions import assignment_decision
from services.judge.registry import heuristics
from services.judge.verdicts.decisions import as_decision, decided
from services.judge.verdicts.pairwise import prompt as verdict
from services.nuggetizer.prompts import all_at_once, importance
from services.offline.app import create_app
from services.runtime.errors import ModelOutage, StageError
from services.runtime.llm.accounting import Spend
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.build import build_chat_model, with_asgi
from services.runtime.llm.client import LLMClient
from services.runtime.llm.decisions.reply import DecisionReply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import AssignmentReply, ImportanceReply, NuggetsReply, VerdictReply
from services.runtime.llm.settings import LLMSettings

_QUERY = "How tall is the Eiffel Tower, and when was it finished?"
_GOOD = "The Eiffel Tower is 330 metres tall. It was finished in 1889 for the World's Fair in Paris."
_POOR = "Paris is a beautiful city with many museums. You should try the food there."
_PAGE = "The Eiffel Tower, 330 metres tall, was finished in March 1889 by the company of Gustave Eiffel."
_NUGGETS = ("The Eiffel Tower is 330 metres tall.", "The Eiffel Tower was finished in 1889.")
_GOOD_TWICE = "the good answer twice"
_UNSTATED = "Visitors can eat in two restaurants high above the city."

_PROFILES = {
    "live": ("nuggets", "labels", "verdicts"),
    "frugal": ("nuggets", "label decisions", "verdict decisions"),
    "small": ("nuggets", "labels one by one", "verdict decisions"),
    "paper": ("nuggets", "importance", "labels", "verdicts"),
}
_FORMATS = {
    "lines": "JSON schemas with the form of lines",
    "schema": "JSON schemas without the form of lines",
    "object": "JSON objects without a schema",
    "none": "no structured outputs",
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question with a known answer.

    Attributes:
        kind: What the profiles need it for.
        title: What is asked, for people.
        prompts: The question; a verdict is asked for in both orders of the answers, labels also one by one.
        answer: What the replies to it say, in short.
        right: What they have to say.
    """

    kind: str
    title: str
    prompts: Sequence[Prompt[Any]]
    answer: Callable[..., str]
    right: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model made of one question.

    Attributes:
        kind: What the profiles need it for.
        title: What was asked, for people.
        questions: Number of questions.
        problem: Why the reply does not serve; None where it does.
        seconds: Seconds until the reply was there.
        spent: Calls, a repair included, with their tokens and cost.
    """

    kind: str
    title: str
    questions: int
    problem: str | None
    seconds: float
    spent: Spend

    def line(self) -> str:
        """The outcome for people."""
        how = self.problem or (
            "right at once" if self.spent.calls == self.questions else f"right after {self.spent.calls} calls"
        )
        mark = "ok  " if self.problem is None else "FAIL"
        tokens = f"{self.spent.tokens.input} tokens read, {self.spent.tokens.output} written"
        return f"{mark} {self.title}: {how}; {self.seconds:.1f} s, {tokens}"


def questions() -> list[Question]:
    """The questions, in the order of the flow."""
    nuggets = [Block("nugget", f"n{i}", text) for i, text in enumerate((*_NUGGETS, _UNSTATED), start=1)]
    documents = [Block("answer", "a1", _GOOD), Block("answer", "a2", _POOR), Block("chunk", "c1", _PAGE)]
    better_first = verdict(_QUERY, _GOOD, _POOR, [_PAGE])
    better_second = verdict(_QUERY, _POOR, _GOOD, [_PAGE])
    of_importance, of_labels = importance(_QUERY, nuggets), assignment(_QUERY, nuggets, _GOOD, _POOR)
    as_labels = assignment_decision(_QUERY, nuggets, _GOOD, _POOR)
    texts = [nugget.text for nugget in nuggets]
    apart = [
        assignment_decision(_QUERY, [Block("nugget", "n1", text)], _GOOD, _POOR, texts) for text in texts
    ]
    orders = [better_first, better_second]
    return [
        Question(
            "nuggets", "nuggets of an answer", [all_at_once(_QUERY, documents, 10)], _facts, "330, 1889"
        ),
        Question("importance", "importance of nuggets", [of_importance], _vital, "a fact vital"),
        Question("labels", "labels of nuggets", [of_labels], _labels, "s s n"),
        Question("verdicts", "verdict in both orders", orders, _winners, _GOOD_TWICE),
        Question("label decisions", "labels as decisions", [as_labels], _letters, "s s n"),
        Question("labels one by one", "labels as decisions, one by one", apart, _letters, "s s n"),
        Question(
            "verdict decisions",
            "verdict as decisions in both orders",
            [as_decision(prompt) for prompt in orders],
            _decided,
            _GOOD_TWICE,
        ),
    ]


def _facts(reply: NuggetsReply) -> str:
    stated = [word for word in ("330", "1889") if any(word in nugget.text for nugget in reply.nuggets)]
    return ", ".join(stated) or "neither"


def _vital(reply: ImportanceReply) -> str:
    vital = {label.id for label in reply.labels if label.importance == "vital"}
    return "a fact vital" if vital & {"n1", "n2"} else "no fact vital"


def _labels(reply: AssignmentReply) -> str:
    return " ".join(label.label[0] for label in sorted(reply.labels, key=lambda label: label.id))


def _winners(good_first: VerdictReply, good_second: VerdictReply) -> str:
    winners = (good_first.winner, good_second.winner)
    if winners == ("first", "second"):
        return _GOOD_TWICE
    return f"{winners[0]}, and {winners[1]} in the other order"


def _letters(*replies: DecisionReply) -> str:
    answers = [
        answer for reply in replies for answer in sorted(reply.answers, key=lambda choice: choice.name)
    ]
    return " ".join(str(answer.letter) for answer in answers)


def _decided(good_first: DecisionReply, good_second: DecisionReply) -> str:
    verdicts = [decided(good_first.answers[0], Side.A), decided(good_second.answers[0], Side.B)]
    winner, _ = combine_orders(verdicts)
    if winner is Vote.A:
        return _GOOD_TWICE
    verdict_text = (
        f"{' and '.join(verdict.winner.value.upper() for verdict in verdicts)}, where A is the good one"
    )
    mean = mean_probabilities([verdict.probabilities for verdict in verdicts])
    return (
        verdict_text
        if mean is None
        else f"{verdict_text}, on average {mean.a:.2f} for A and {mean.b:.2f} for B"
    )


async def try_model(settings: LLMSettings, echo: Callable[[str], None]) -> bool:
    """Ask the model all questions, and print what it makes of them.

    Args:
        settings: The model.
        echo: Prints a line.

    Returns:
        Whether a profile suits the model.

    Raises:
        ModelOutage: The endpoint does not answer.
        ValueError: The settings contradict each other.
    """
    http = with_asgi(create_app(None, more=heuristics)) if settings.offline else None
    model = build_chat_model(settings, http=http)
    outcomes = list[Outcome]()
    try:
        for number, question in enumerate(questions()):
            outcomes.append(await _outcome(model, question, f"trial-{number}"))
            echo(outcomes[-1].line())
        dialect = model.endpoint.dialect
        streamed = "streamed replies" if dialect.stream else "whole replies"
        room = "" if dialect.context is None else f", and room for {dialect.context:,} tokens"
        echo(f"     the endpoint has {_FORMATS[dialect.format]}, {streamed}{room}")
    finally:
        await model.close()
    lines, suits = _summary(outcomes, settings.price_table().currency)
    for line in lines:
        echo(line)
    return suits


async def _outcome(model: LLMClient, question: Question, battle_id: str) -> Outcome:
    began, problem = time.perf_counter(), None
    try:
        values = [
            (await model.ask(prompt, stage="doctor", battle_id=battle_id)).value
            for prompt in question.prompts
        ]
        if (answered := question.answer(*values)) != question.right:
            problem = f"wrong, though easy: {answered} (right is {question.right})"
    except ModelOutage:
        raise
    except StageError as error:
        problem = error.for_operators
    seconds, spent = time.perf_counter() - began, await model.ledger.for_battle(battle_id)
    return Outcome(
        kind=question.kind,
        title=question.title,
        questions=len(question.prompts),
        problem=problem,
        seconds=seconds,
        spent=spent,
    )


def _summary(outcomes: Sequence[Outcome], currency: str) -> tuple[list[str], bool]:
    """What follows from all outcomes, and whether a profile suits the model."""
    seconds, written = sum(x.seconds for x in outcomes), sum(x.spent.tokens.output for x in outcomes)
    cost = None if any(x.spent.unpriced for x in outcomes) else sum(x.spent.amount for x in outcomes)
    price = (
        "its price is unknown: set NUGGETSTREAM_LLM_PRICES to count money"
        if cost is None
        else f"these questions cost {cost:.6f} {currency}"
    )
    lines = [
        f"     {written / max(seconds, 1e-3):.3g} tokens per second are written, reading included",
        f"     {price}",
    ]
    failed = {x.kind for x in outcomes if x.problem is not None}
    suiting = [name for name, needs in _PROFILES.items() if failed.isdisjoint(needs)]
    if suiting:
        others = f"; others that it could do: {', '.join(suiting[1:])}" if suiting[1:] else ""
        return [*lines, f"ok   this model can do the job: profile {suiting[0]} suits it{others}"], True
    return [*lines, f"FAIL this model cannot do the job: it fails at {', '.join(sorted(failed))}"], False
