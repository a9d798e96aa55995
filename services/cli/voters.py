"""The models that a judge or an evaluator asks: the configured one, or the members of its panel."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from services.cli.shared_parts import open_chat_model
from services.judge.panel import Voter
from services.runtime.llm.prices import OFFLINE_MODEL

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts
    from services.judge.selection import PanelOptions
    from services.runtime.llm.client import LLMClient
    from services.runtime.llm.settings import LLMSettings

    Asked = tuple[Voter, LLMClient]


def unlimited(llm: "LLMSettings") -> "LLMSettings":
    """The settings without a budget per battle."""
    return llm.model_copy(update={"battle_tokens": None, "battle_money": None})


@asynccontextmanager
async def open_voters(
    parts: "Parts", llm: "LLMSettings", options: "PanelOptions"
) -> AsyncIterator[Sequence["Asked"]]:
    """The models of a judge or an evaluator, each with a client of its own, which is named after it.

    Args:
        parts: The connections and settings.
        llm: Settings of the model, whose endpoint all members share.
        options: Its options, which name the members of a panel.
    """
    frugal = parts.pipeline.profile == "frugal"
    async with AsyncExitStack() as opened:

        async def voter(name: str, chat: "LLMSettings", decisions: "LLMSettings") -> "Asked":
            model = await opened.enter_async_context(open_chat_model(parts, chat))
            if not frugal:
                return Voter(name, model), model
            decider = await opened.enter_async_context(open_chat_model(parts, decisions))
            return Voter(name, model, decider), decider

        if not options.members:
            yield [await voter("", llm, llm.for_decisions())]
            return
        settings = [
            (member.name, llm.model_copy(update={"model": _model_of(llm, member.model)}))
            for member in options.members
        ]
        yield [await voter(name, own, own) for name, own in settings]


def _model_of(llm: "LLMSettings", member: str) -> str:
    """The model of a member; offline a name of its own, so that every member is asked."""
    return f"{OFFLINE_MODEL}:{member}" if llm.offline else member
