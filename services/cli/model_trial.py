"""One of each question that the platform asks a model, on a battle whose answers everybody knows."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from services.assigner.decisions import assignment_decision
from services.judge.registry import heuristics
from services.judge.verdicts.decisions import as_decision
from services.judge.verdicts.pairwise import prompt as verdict
from services.nuggetizer.prompts import all_at_once, importance
from services.offline.app import create_app
from services.runtime.errors import ModelOutage, StageError
from services.runtime.llm.assignment import assignment
from services.runtime.llm.blocks import Block
from services.runtime.llm.build import build_chat_model, with_asgi
from services.runtime.llm.client import LLMClient
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.settings import LLMSettings

_QUERY = "How tall is the Eiffel Tower, and when was it finished?"
_GOOD = "The Eiffel Tower is 330 metres tall. It was finished in 1889 for the World's Fair in Paris."
_POOR = "Paris is a beautiful city with many museums. You should try the food there."
_PAGE = "The Eiffel Tower, 330 metres tall, was finished in March 1889 by the company of Gustave Eiffel."
_NUGGETS = ("The Eiffel Tower is 330 metres tall.", "The Eiffel Tower was finished in 1889.")
_UNSTATED = "Visitors can eat in two restaurants high above the city."

_PROFILES = {
    "live": ("nuggets", "labels", "verdicts"),
    "frugal": ("nuggets", "decisions"),
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
        prompt: The question.
        is_right: Whether a reply to it is right; it may be worded in many ways.
    """

    kind: str
    prompt: Prompt[Any]
    is_right: Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the model made of one question.

    Attributes:
        kind: What was asked.
        problem: Why the reply does not serve; None where it does.
        calls: Number of calls, a repair included.
        seconds: Seconds until the reply was there.
        read: Tokens of the prompts.
        written: Tokens of the replies.
    """

    kind: str
    problem: str | None
    calls: int
    seconds: float
    read: int
    written: int

    def line(self) -> str:
        """The outcome for people."""
        how = self.problem or ("right at once" if self.calls == 1 else f"right after {self.calls} calls")
        mark = "ok  " if self.problem is None else "FAIL"
        tokens = f"{self.read} tokens read, {self.written} written"
        return f"{mark} {self.kind}: {how}; {self.seconds:.1f} s, {tokens}"


def questions() -> list[Question]:
    """The questions, in the order of the flow."""
    nuggets = [Block("nugget", f"n{i}", text) for i, text in enumerate((*_NUGGETS, _UNSTATED), start=1)]
    documents = [Block("answer", "a1", _GOOD), Block("answer", "a2", _POOR), Block("chunk", "c1", _PAGE)]
    stated = ["support", "support", "not_support"]
    better_first = verdict(_QUERY, _GOOD, _POOR, [_PAGE])
    better_second = verdict(_QUERY, _POOR, _GOOD, [_PAGE])
    return [
        Question(
            "nuggets",
            all_at_once(_QUERY, documents, 10),
            lambda reply: all(any(word in x.text for x in reply.nuggets) for word in ("330", "1889")),
        ),
        Question(
            "importance",
            importance(_QUERY, nuggets),
            lambda reply: any(x.importance == "vital" and x.id in ("n1", "n2") for x in reply.labels),
        ),
        Question(
            "labels",
            assignment(_QUERY, nuggets, _GOOD, _POOR),
            lambda reply: [x.label for x in sorted(reply.labels, key=lambda x: x.id)] == stated,
        ),
        Question("verdicts", better_first, lambda reply: reply.winner == "first"),
        Question("verdicts", better_second, lambda reply: reply.winner == "second"),
        Question(
            "decisions",
            assignment_decision(_QUERY, nuggets, _GOOD, _POOR),
            lambda reply: [x.letter for x in sorted(reply.answers, key=lambda x: x.name)] == list("ssn"),
        ),
        Question("decisions", as_decision(better_first), lambda reply: reply.answers[0].letter == "f"),
        Question("decisions", as_decision(better_second), lambda reply: reply.answers[0].letter == "s"),
    ]


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
        echo(f"     the endpoint has {_FORMATS[dialect.format]}, and {streamed}")
    finally:
        await model.close()
    lines, suits = _summary(outcomes)
    for line in lines:
        echo(line)
    return suits


async def _outcome(model: LLMClient, question: Question, battle_id: str) -> Outcome:
    began, problem = time.perf_counter(), None
    try:
        reply = await model.ask(question.prompt, stage="doctor", battle_id=battle_id)
        if not question.is_right(reply.value):
            problem = "wrong, though easy"
    except ModelOutage:
        raise
    except StageError as error:
        problem = error.for_operators
    seconds, spent = time.perf_counter() - began, await model.ledger.for_battle(battle_id)
    return Outcome(
        kind=question.kind,
        problem=problem,
        calls=spent.calls,
        seconds=seconds,
        read=spent.tokens.input,
        written=spent.tokens.output,
    )


def _summary(outcomes: Sequence[Outcome]) -> tuple[list[str], bool]:
    """What follows from all outcomes, and whether a profile suits the model."""
    seconds, written = sum(x.seconds for x in outcomes), sum(x.written for x in outcomes)
    lines = [f"     {written / max(seconds, 1e-3):.3g} tokens per second are written, reading included"]
    failed = {x.kind for x in outcomes if x.problem is not None}
    suiting = [name for name, needs in _PROFILES.items() if failed.isdisjoint(needs)]
    if suiting:
        others = f"; it could do {' and '.join(suiting[1:])}, too" if suiting[1:] else ""
        return [*lines, f"ok   this model can do the job: profile {suiting[0]} suits it{others}"], True
    return [*lines, f"FAIL this model cannot do the job: it fails at {', '.join(sorted(failed))}"], False
