"""`nuggetstream stages`: list the stages, pause one for a while, and resume it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import nats.errors

from services.cli.wiring.data_folder import NATS
from services.cli.wiring.process import connected, read_settings, run
from services.cli.wiring.settings import PlatformSettings, ServerSettings
from services.gateway.operations.state import stream_lines
from services.runtime.bus import Bus, describe_error
from services.runtime.nats_server import running_url
from services.wire.subjects import STREAM_ARENA, STREAM_INGEST
from services.wire.topology import is_own_consumer

_LONGEST = 72  # hours; a message that waits is kept for a week
_ANSWER_SECONDS = 5.0
_STREAMS = (STREAM_ARENA, STREAM_INGEST)

_STAGE = click.argument("stage")
_DATA_DIR = click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of `nuggetstream up`; NUGGETSTREAM_NATS_URL when absent.",
)


@click.group("stages")
def command() -> None:
    """List the stages, pause one for a while, or resume it.

    The broker delivers no message to a paused stage, however often services and broker restart. Messages
    wait, attempts that run end as usual, and a pause ends by itself. An evaluator is named grader-NAME.
    """


@command.command("list", short_help="List the stages, and what waits for them.")
@_DATA_DIR
def list_command(data_dir: Path | None) -> None:
    """List the stages: messages that wait and are in flight, and until when it is paused."""

    async def show(bus: Bus) -> None:
        for line in (line for stream in await stream_lines(bus, _STREAMS) for line in stream.consumers):
            paused = f", paused until {line.paused_until:%Y-%m-%d %H:%M} UTC" if line.paused_until else ""
            click.echo(f"{line.name}: {line.waiting} waiting, {line.in_flight} in flight{paused}")

    _with_broker(data_dir, show)


@command.command("pause")
@_STAGE
@click.option(
    "--hours", type=click.FloatRange(0, _LONGEST, min_open=True), default=1.0, show_default=True,
    help="Hours after which it goes on by itself.",
)  # fmt: skip
@_DATA_DIR
def pause_command(stage: str, hours: float, data_dir: Path | None) -> None:
    """Pause a stage. Pausing it again sets another end."""
    until = datetime.now(UTC) + timedelta(hours=hours)

    async def pause(bus: Bus) -> None:
        await bus.js.pause_consumer(await _stream_of(bus, stage), stage, until.isoformat())
        click.echo(f"{stage} is paused until {until:%Y-%m-%d %H:%M} UTC")

    _with_broker(data_dir, pause)


@command.command("resume")
@_STAGE
@_DATA_DIR
def resume_command(stage: str, data_dir: Path | None) -> None:
    """Resume a stage, also one that is not paused."""

    async def resume(bus: Bus) -> None:
        await bus.js.resume_consumer(await _stream_of(bus, stage), stage)
        click.echo(f"{stage} goes on")

    _with_broker(data_dir, resume)


async def _stream_of(bus: Bus, stage: str) -> str:
    """The stream that a stage reads.

    Raises:
        click.ClickException: The broker knows no such stage.
    """
    streams = {
        line.name: stream.name for stream in await stream_lines(bus, _STREAMS) for line in stream.consumers
    }
    own = sorted(filter(is_own_consumer, streams))
    if stage not in own:
        raise click.ClickException(f"there is no stage {stage!r}; there are {', '.join(own)}")
    return streams[stage]


def _with_broker(data_dir: Path | None, work: Callable[[Bus], Awaitable[None]]) -> None:
    settings = replace(read_settings(PlatformSettings).bus("stages"), connect_within=_ANSWER_SECONDS)

    async def main(stop: asyncio.Event) -> None:
        servers = settings.servers if data_dir is None else (running_url(data_dir / NATS),)
        async with connected(replace(settings, servers=servers), stop) as bus:
            try:
                await work(bus)
            except nats.errors.Error as error:
                raise click.ClickException(describe_error(error)) from error

    run(main, read_settings(ServerSettings))
