"""The wiring of the judge."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from services.cli.canary import canary_watch
from services.cli.graders import open_graders
from services.cli.judge_stage import open_judge_stage
from services.cli.wiring.parts import Parts
from services.runtime.service import Service


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The judge: compares answers. Its processes also run the evaluators."""
    async with AsyncExitStack() as opened:
        stage, watches = await opened.enter_async_context(open_judge_stage(parts))
        graders = await opened.enter_async_context(open_graders(parts))
        yield Service(
            name="judge",
            stages=[stage, *graders],
            background=[*watches, *canary_watch(parts)],
        )
