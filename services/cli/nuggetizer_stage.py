"""The stage of one of the declared nuggetizers, or of the only one."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

from services.cli.own_consumer import own_consumer
from services.cli.shared_parts import model_state, nugget_bank, open_chat_model

if TYPE_CHECKING:
    from services.cli.wiring import Parts
    from services.runtime.service import BackgroundTask
    from services.runtime.stage import Stage


@asynccontextmanager
async def open_nuggetizer_stage(
    parts: "Parts",
) -> AsyncIterator[tuple["Stage[Any, Any]", Sequence["BackgroundTask"]]]:
    """The stage, and the task that tells while its model is away.

    Raises:
        NotPrepared: The nuggetizer is not declared, or its consumer belongs to another one.
    """
    from services.nuggetizer.documents import NuggetSources
    from services.nuggetizer.stage import Nuggetizer, Profile, build

    pipeline, declared = parts.pipeline, parts.platform.declared_nuggetizers
    name = pipeline.nuggetizer or declared.first
    consumer = await own_consumer(parts.bus, declared, name)
    llm = parts.llm.for_stage("nuggetizer")
    async with AsyncExitStack() as opened:
        model = await opened.enter_async_context(open_chat_model(parts, llm))
        decisions = None
        if pipeline.decides_importance:
            decisions = await opened.enter_async_context(open_chat_model(parts, llm.for_decisions()))
        nuggetizer = Nuggetizer(
            model=model,
            profile=Profile.PAPER if pipeline.profile == "paper" else Profile.LIVE,
            sources=NuggetSources(pipeline.nugget_sources),
            limit=pipeline.nugget_limit,
            window=pipeline.window,
            passages=pipeline.nugget_passages,
            characters=pipeline.excerpted(pipeline.nugget_characters),
            decisions=decisions,
            bank=nugget_bank(parts),
            prompts=model.overrides.key,
            name=name if declared.several else None,
            additional=declared.is_additional(name),
        )
        concurrency = pipeline.llm_stage_concurrency
        stage = build(nuggetizer, parts.blobs, concurrency=concurrency, consumer=consumer)
        yield stage, [model_state(parts.bus, stage.name, model)]
