"""Importance of nuggets as decisions: one question per nugget of a list that stands, with probabilities."""

from collections.abc import Sequence
from dataclasses import replace

import structlog

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.nugget import Importance
from services.nuggetizer.creation import Created, Draft
from services.nuggetizer.prompts import SYSTEM
from services.runtime.llm.blocks import Block
from services.runtime.llm.conversation import in_context
from services.runtime.llm.decisions.question import Choice, Question, lines_of
from services.runtime.llm.decisions.reply import Answer, DecisionReply
from services.runtime.llm.model import ChatModel
from services.runtime.llm.prompt import Prompt

VERSION = "importance-decision-1"
VITAL_FROM = 0.5  # probability from which a nugget is vital

_INSTRUCTIONS = (
    "Below are a query and the nuggets of its answer key. Judge for each nugget how much somebody who asked "
    "this would miss it in an answer."
)
_CHOICES = (
    Choice("v", Importance.VITAL.value, "an answer without it leaves open what the query asks for"),
    Choice("o", Importance.OKAY.value, "it adds something, and an answer can be good without it"),
)
_BY_LETTER = {choice.letter: Importance(choice.value) for choice in _CHOICES}
_VITAL = _CHOICES[0].letter
_STAGE = "nuggetizer"
_log = structlog.get_logger(__name__)


def importance_decision(query: str, nuggets: Sequence[str]) -> Prompt[DecisionReply]:
    """Asks for each of the nuggets whether it is vital.

    Args:
        query: The user's question.
        nuggets: Texts of the nuggets, which the reply names n1, n2 and so on.
    """
    blocks = [Block("nugget", f"n{number}", text) for number, text in enumerate(nuggets, start=1)]
    questions = tuple(
        Question(nugget.id, f"Is nugget {nugget.id} vital or okay for an answer to the query?", _CHOICES)
        for nugget in blocks
    )
    return Prompt(
        task="importance_decision",
        version=VERSION,
        system=SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query), *blocks),
        reply=DecisionReply,
        max_tokens=100 + len(questions) * 10,
        check=lambda reply: reply.check(questions),
        questions=questions,
        lines=lines_of(questions),
    )


async def with_importance(created: Created, model: ChatModel, battle: Battle) -> Created:
    """The list with the importance that a model decides, vital nuggets first.

    Its version of the prompt names the prompts of both, since the list depends on both.
    """
    if not created.drafts:
        return created
    drafts, version = await decided(created.drafts, model, battle)
    return replace(created, drafts=drafts, prompt_version=f"{created.prompt_version}, {version}")


async def decided(drafts: Sequence[Draft], model: ChatModel, battle: Battle) -> tuple[list[Draft], str]:
    """The importance of nuggets as a model decides it, in one call.

    Args:
        drafts: At least one nugget.
        model: Model that is asked.
        battle: The battle that the call is booked to.

    Returns:
        The nuggets, vital ones first, and the version of the prompt. A nugget that the model declined to
        decide keeps the importance that it had, without a probability.
    """
    prompt = importance_decision(battle.query, [draft.text for draft in drafts])
    prompt = in_context(prompt, battle.context, {})
    reply = await model.ask(prompt, stage=_STAGE, battle_id=battle.id)
    answers = {answer.name: answer for answer in reply.value.answers}
    asked = [(draft, answers[f"n{number}"]) for number, draft in enumerate(drafts, start=1)]
    declined = sum(answer.letter is None for _, answer in asked)
    if declined:
        _log.info("importance declined", battle=battle.id, declined=declined, nuggets=len(asked))
    rated = [_decided(draft, answer) for draft, answer in asked]
    return sorted(rated, key=lambda draft: draft.importance is not Importance.VITAL), reply.prompt_version


def _decided(draft: Draft, answer: Answer) -> Draft:
    if answer.letter is None:
        return draft
    if answer.probabilities is None:
        return replace(draft, importance=_BY_LETTER[answer.letter])
    probability = answer.probabilities[_VITAL]
    importance = Importance.VITAL if probability >= VITAL_FROM else Importance.OKAY
    return replace(draft, importance=importance, vital_probability=probability)
