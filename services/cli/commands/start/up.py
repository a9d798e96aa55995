"""`nuggetstream up`: run the whole platform in one process."""

import asyncio
import os
from pathlib import Path

import click

from services.cli.commands.showing import NEW_FOLDER
from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.data_folder import NATS, locked_folder
from services.cli.wiring.embedded import Choices, Embedded, embedded
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.process import metrics_port_option, read_settings, run, serve_metrics
from services.cli.wiring.registry import GRPC_PORTS, HTTP_PORT
from services.cli.wiring.settings import PipelineSettings, ServerSettings, embedded_pipeline, ranking_of
from services.runtime.broker_token import TOKEN
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import masked_url

_RATINGS_OFFSET = GRPC_PORTS["rater"] - GRPC_PORTS["gateway"]  # difference of their default ports


@click.command("up")
@click.option(
    "--data-dir",
    type=NEW_FOLDER,
    default=Path("nuggetstream-data"),
    show_default=True,
    help="Folder for streams and database; `up` on the same folder continues where it stopped.",
)
@click.option(
    "--http-port", default=HTTP_PORT, show_default=True, help="Port of pages and API; 0 takes a free one."
)
@click.option(
    "--grpc-port",
    default=GRPC_PORTS["gateway"],
    show_default=True,
    help="Port of arena.v1.Arena; the port of arena.v1.Ratings is 7 higher. 0 takes free ones.",
)
@metrics_port_option
def command(data_dir: Path, http_port: int, grpc_port: int, metrics_port: int) -> None:
    """Run all services in this process, with a broker and a database of their own, until Ctrl-C.

    Only one process at a time can use a data folder. Commands that read a database, such as `recount`, find
    that of `up` by NUGGETSTREAM_DATABASE_URL=sqlite+aiosqlite:///nuggetstream-data/nuggetstream.db.
    """
    os.umask(0o077)  # what `up` writes has every battle in it
    server = read_settings(ServerSettings)
    pipeline = embedded_pipeline(read_settings(PipelineSettings))
    llm = read_settings(LLMSettings)
    choices = Choices(
        folder=data_dir,
        pipeline=pipeline,
        fetch=read_settings(FetchSettings),
        llm=llm,
        host=server.host,
        http_port=http_port,
        allowed_hosts=server.allowed_hosts,
        grpc_port=grpc_port,
        ratings_port=grpc_port and grpc_port + _RATINGS_OFFSET,
        grace=server.grace,
        access=read_settings(AccessSettings),
        entry=read_settings(EntrySettings),
    )

    async def up(stop: asyncio.Event) -> None:
        # Before the ports, which the same process has probably bound: the lock names that process.
        async with locked_folder(data_dir):
            metrics = serve_metrics(server.host, metrics_port)
        async with embedded(choices) as platform:
            if not stop.is_set():
                click.echo(_banner(platform, data_dir / NATS / TOKEN, metrics, pipeline, llm))
            await stop.wait()

    run(up, server)


def _banner(
    platform: Embedded, token: Path, metrics: int, pipeline: PipelineSettings, llm: LLMSettings
) -> str:
    model = "offline heuristics, as no model is configured"
    if not llm.offline:
        model = f"{llm.model_name} at {masked_url(llm.url)}"
    return "\n".join(
        [
            f"pages    {platform.url}/",
            f"API      {platform.url}/openapi.json",
            f"gRPC     {platform.grpc['gateway']} (arena.v1.Arena)",
            f"gRPC     {platform.grpc['rater']} (arena.v1.Ratings)",
            f"NATS     nats://{platform.nats.rpartition('@')[2]} (arena.v1.ingest)",
            f"token    {token} (clients of NATS send it)",
            f"metrics  http://127.0.0.1:{metrics}/metrics",
            f"model    {model}",
            f"ranking  {ranking_of(pipeline)}",
            "Ctrl-C stops the platform; the same command continues with the same data.",
        ]
    )
