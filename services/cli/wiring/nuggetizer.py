"""The wiring of the nuggetizer."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import model_state, nugget_bank, open_chat_model
from services.nuggetizer.documents import NuggetSources
from services.nuggetizer.stage import Nuggetizer, Profile, build
from services.runtime.service import Service


def decides_importance(parts: Parts) -> bool:
    """Whether importance is decided in a call of its own: by a model for decisions of this stage."""
    own = parts.llm.stages.get("nuggetizer")
    return parts.pipeline.profile != "paper" and own is not None and own.decision_model is not None


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The nuggetizer: creates nuggets."""
    pipeline, llm = parts.pipeline, parts.llm.for_stage("nuggetizer")
    async with AsyncExitStack() as opened:
        model = await opened.enter_async_context(open_chat_model(parts, llm))
        decisions = None
        if decides_importance(parts):
            decisions = await opened.enter_async_context(open_chat_model(parts, llm.for_decisions()))
        nuggetizer = Nuggetizer(
            model=model,
            profile=Profile.PAPER if pipeline.profile == "paper" else Profile.LIVE,
            sources=NuggetSources(pipeline.nugget_sources),
            limit=pipeline.nugget_limit,
            characters=pipeline.excerpted(),
            decisions=decisions,
            bank=nugget_bank(parts),
            prompts=model.overrides.key,
        )
        stage = build(nuggetizer, parts.blobs, concurrency=parts.battles_at_once)
        watch = model_state(parts.bus, stage.name, model)
        yield Service(name="nuggetizer", stages=[stage], background=[watch])
