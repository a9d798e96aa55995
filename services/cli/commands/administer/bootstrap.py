"""`nuggetstream bootstrap`: create or update all streams and consumers at the broker."""

import asyncio
from dataclasses import replace
from functools import partial

import click
import nats.errors
from nats.js.errors import ServiceUnavailableError

from nuggetstream.domain.failure import Reason
from services.cli.wiring.declared import declare
from services.cli.wiring.process import connected, read_settings, run
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.cli.wiring.waiting import NO_WAIT_HELP, PATIENCE_S, Patience
from services.runtime.bus import Bus, describe_error
from services.runtime.errors import Outage
from services.wire.topology import consumers, streams

_ANSWER_SECONDS = 5.0  # for the first connection where the command does not wait


@click.command("bootstrap")
@click.option("--no-wait", is_flag=True, help=NO_WAIT_HELP)
def command(no_wait: bool) -> None:
    """Create or update all streams and consumers at the broker.

    Running it again changes nothing. While the broker is away, or members of its cluster, it waits, for at
    most ten minutes. NUGGETSTREAM_NATS_REPLICAS sets the number of copies of each
    stream (3 in production), NUGGETSTREAM_NATS_STREAM_BYTES the size of all streams together.
    Consumers of evaluators that NUGGETSTREAM_EVALUATORS no longer names are deleted.
    """
    platform, server = read_settings(PlatformSettings), read_settings(ServerSettings)

    async def bootstrap(stop: asyncio.Event) -> None:
        seconds = 0.0 if no_wait else PATIENCE_S
        settings = replace(platform.bus("bootstrap"), connect_within=max(seconds, _ANSWER_SECONDS))
        async with connected(settings, stop) as bus:
            await Patience(seconds, stop).until_available(partial(_declare, bus, platform))

    run(bootstrap, server)


async def _declare(bus: Bus, platform: PlatformSettings) -> None:
    """Declare all streams and consumers.

    Raises:
        Outage: The broker does not answer, or a stream has no leader.
        click.ClickException: The broker rejects a declaration.
    """
    try:
        removed = await declare(bus, platform)
    except nats.errors.Error as error:
        if _is_away(error):
            raise Outage(Reason.DEADLINE, describe_error(error)) from error
        raise click.ClickException(describe_error(error)) from error
    for name in removed:
        click.echo(f"consumer {name} is deleted, because what it is for is no longer declared")
    count = len(consumers(platform.evaluators))
    click.echo(f"{len(streams())} streams and {count} consumers are up to date")


def _is_away(error: nats.errors.Error) -> bool:
    """Whether the broker may answer otherwise later: it did not answer, or lacks members of its cluster."""
    away = nats.errors.TimeoutError, nats.errors.ConnectionClosedError, nats.errors.NoRespondersError
    return isinstance(error, (*away, ServiceUnavailableError))
