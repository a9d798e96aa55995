"""`nuggetstream bootstrap`: create or update all streams and consumers at the broker."""

import asyncio

import click
import nats.errors

from services.cli.process import connected, read_settings, run
from services.cli.settings import PlatformSettings, ServerSettings
from services.runtime.bus import describe_error, ensure, remove_undeclared
from services.wire.graders import GRADER_PREFIX
from services.wire.judges import JUDGE_PREFIX
from services.wire.subjects import STREAM_ARENA
from services.wire.topology import consumers, streams


@click.command("bootstrap")
def command() -> None:
    """Create or update all streams and consumers at the broker.

    Running it again changes nothing. NUGGETSTREAM_NATS_REPLICAS sets the number of copies of each
    stream (3 in production), NUGGETSTREAM_NATS_STREAM_BYTES the size of all streams together.
    Consumers of judges that NUGGETSTREAM_JUDGES no longer names are deleted, and those of evaluators
    that NUGGETSTREAM_EVALUATORS no longer names.
    """
    platform = read_settings(PlatformSettings)

    async def bootstrap(stop: asyncio.Event) -> None:
        async with connected(platform.bus("bootstrap"), stop) as bus:
            declared = (
                streams(platform.nats_replicas, platform.nats_stream_bytes),
                consumers(platform.declared_judges, platform.declared_graders),
            )
            try:
                await ensure(bus.js, *declared)
                removed = [
                    name
                    for prefix in (JUDGE_PREFIX, GRADER_PREFIX)
                    for name in await remove_undeclared(bus.js, STREAM_ARENA, prefix, declared[1])
                ]
            except nats.errors.Error as error:
                raise click.ClickException(describe_error(error)) from error
            for name in removed:
                click.echo(f"consumer {name} is deleted, because what it is for is no longer declared")
            click.echo(f"{len(declared[0])} streams and {len(declared[1])} consumers are up to date")

    run(bootstrap, read_settings(ServerSettings))
