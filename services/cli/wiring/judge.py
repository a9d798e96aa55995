"""The wiring of the judge."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from services.cli.canary import canary_watch
from services.cli.graders import open_graders, runs_graders
from services.cli.judge_stage import open_judge_stage
from services.cli.own_consumer import own_consumer
from services.cli.wiring.parts import Parts
from services.runtime.service import Service
from services.runtime.stage import Stage


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The judge: compares answers. Its processes also run the evaluators."""

    pipeline, judges = parts.pipeline, parts.platform.declared_judges
    consumer = await own_consumer(parts.bus, judges, pipeline.evaluator)
    async with AsyncExitStack() as opened:
        stage, watches = await opened.enter_async_context(open_judge_stage(parts, consumer, judges.several))
        graders: list[Stage[Any, Any]] = []
        if runs_graders(parts.platform, pipeline.evaluator):
            graders = await opened.enter_async_context(open_graders(parts))
        yield Service(
            name="judge",
            stages=[stage, *graders],
            background=[*watches, *canary_watch(parts)],
        )
