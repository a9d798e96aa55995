"""The demo arena with a platform of its own, in one process.

The arena is another site than the platform, on a port of its own, as it is in practice.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

import click
from starlette.applications import Starlette

from nuggetstream.client import AsyncClient
from services.cli.demo.arena.site import Arena
from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.embedded import Choices, embedded
from services.runtime.asgi import serving
from services.runtime.listening import CannotListen

_GRACE = 0.3  # seconds for requests in flight, when the arena stops


@dataclass(frozen=True, slots=True)
class RunningArena:
    """Where the arena is.

    Attributes:
        url: Base URL of the arena.
        platform_url: Base URL of the platform.
    """

    url: str
    platform_url: str


@asynccontextmanager
async def running_arena(
    choices: Choices, battles: Sequence[Mapping[str, Any]], port: int = 0
) -> AsyncIterator[RunningArena]:
    """Serve the arena, and the platform that explains its battles, inside the block.

    The prepared battles with a vote are submitted as battles of earlier visitors, so that the board has
    ratings that a vote can move.

    Args:
        choices: The configuration of the platform; it allows the arena to show its pages in a frame.
        battles: The prepared battles.
        port: Port of the arena; 0 takes a free one.

    Raises:
        click.ClickException: The port is in use.
    """
    site = Starlette()
    async with AsyncExitStack() as stack:
        try:
            url = await stack.enter_async_context(serving(site, port=port, grace=_GRACE, quiet=True))
        except CannotListen as error:
            raise click.ClickException(f"{error}; choose another port with --arena-port") from error
        allowed = replace(choices, access=_framed_by(url, choices.access))
        platform = await stack.enter_async_context(embedded(allowed))
        client = await stack.enter_async_context(AsyncClient(platform.url))
        async for _ in client.submit_many(battle for battle in battles if "vote" in battle):
            pass
        # The platform has to know the arena's address before it starts, and the arena the platform's.
        site.mount("/", Arena.of(battles, client, platform.url).app())
        yield RunningArena(url, platform.url)


def _framed_by(url: str, access: AccessSettings) -> AccessSettings:
    """The settings that also allow the arena's site, by both names of this machine, to show frames."""
    origins = (*access.frame_ancestors, url, f"http://localhost:{urlsplit(url).port}")
    return access.model_copy(update={"frame_ancestors": origins})
