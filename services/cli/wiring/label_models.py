"""Models that people name when they let the nuggets of a battle be labelled again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from nuggetstream.domain.failure import Reason
from services.cli.wiring.shared_parts import open_chat_model, open_decision_model
from services.runtime.errors import Permanent
from services.runtime.llm.prices import OFFLINE_MODEL

if TYPE_CHECKING:
    from services.assigner.stage import ModelsOf
    from services.cli.wiring.parts import Parts
    from services.runtime.llm.client import LLMClient
    from services.runtime.llm.settings import LLMSettings

_WINDOWS = {"paper": 10, "small": 1}  # nuggets per call


@asynccontextmanager
async def open_label_models(parts: "Parts", llm: "LLMSettings") -> AsyncIterator["ModelsOf"]:
    """Opens a client for each name that is asked for, once.

    Args:
        parts: The connections and settings.
        llm: Settings of the assigner, whose endpoint and parameters all of them have.
    """
    clients: dict[str, tuple[LLMClient, LLMClient | None]] = {}
    turn = asyncio.Lock()
    async with AsyncExitStack() as opened:

        async def models_of(name: str) -> "tuple[LLMClient, LLMClient | None]":
            async with turn:
                if name not in clients:
                    model = f"{OFFLINE_MODEL}:{name}" if llm.offline else name
                    own = llm.of_model(model)
                    try:
                        own.price_table()
                    except ValueError as error:
                        raise Permanent(Reason.INVALID_INPUT, str(error)) from error
                    chat = await opened.enter_async_context(open_chat_model(parts, own))
                    clients[name] = chat, await opened.enter_async_context(open_decision_model(parts, own))
                return clients[name]

        yield models_of


def labels_of_profile(parts: "Parts") -> dict[str, Any]:
    """How many nuggets the profile labels in a call, and whether contradictions have a label of their own."""
    profile = parts.pipeline.profile
    return {"window": _WINDOWS.get(profile), "contradictions": profile != "paper"}
