"""The wiring of the judge."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from services.cli.wiring.canary import canary_watch
from services.cli.wiring.panels import open_judge, open_panels
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import model_state
from services.judge.stage import build
from services.runtime.service import Service


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The judge: compares answers. Its processes also run the evaluators."""
    async with AsyncExitStack() as opened:
        judge, clients = await opened.enter_async_context(open_judge(parts))
        beside = await opened.enter_async_context(open_panels(parts))
        stages = [build(panel, parts.blobs, concurrency=parts.battles_at_once) for panel in (judge, *beside)]
        watches = [model_state(parts.bus, stages[0].name, client) for client in clients]
        yield Service(name="judge", stages=stages, background=[*watches, *canary_watch(parts)])
