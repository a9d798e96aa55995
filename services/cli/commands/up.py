"""`nuggetstream up`: the whole platform in one process."""

import asyncio
from pathlib import Path

import click

from services.cli.embedded import Choices, embedded
from services.cli.process import read_settings, run, serve_metrics
from services.cli.registry import GRPC_PORTS
from services.cli.settings import (
    FetchSettings,
    PipelineSettings,
    ServerSettings,
    embedded_pipeline,
)
from services.runtime.llm.settings import LLMSettings


@click.command("up")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("nuggetstream-data"),
    show_default=True,
    help="Streams and database live here; starting again goes on where it stopped.",
)
@click.option("--http-port", type=int, help="Port of pages and API; 0 takes a free one.  [default: 8080]")
@click.option("--grpc-port", type=int, help="Port of gRPC; 0 takes a free one.  [default: 7100]")
def command(data_dir: Path, http_port: int | None, grpc_port: int | None) -> None:
    """Run every service in this process, around its own broker and database, until Ctrl-C."""
    given = {"http_port": http_port, "grpc_port": grpc_port}
    server = read_settings(ServerSettings).model_copy(
        update={name: port for name, port in given.items() if port is not None}
    )
    pipeline = embedded_pipeline(read_settings(PipelineSettings))
    llm = read_settings(LLMSettings)
    choices = Choices(
        folder=data_dir,
        pipeline=pipeline,
        fetch=read_settings(FetchSettings),
        llm=llm,
        host=server.host,
        http_port=server.http_port,
        grpc_port=GRPC_PORTS["gateway"] if server.grpc_port is None else server.grpc_port,
        grace=server.grace,
    )

    async def up(stop: asyncio.Event) -> None:
        async with embedded(choices) as platform:
            metrics = serve_metrics(server)
            click.echo(_banner(platform.url, platform.grpc["gateway"], metrics, pipeline, llm))
            await stop.wait()

    run(up, server)


def _banner(url: str, grpc: str, metrics: int, pipeline: PipelineSettings, llm: LLMSettings) -> str:
    model = "offline heuristics (no model is configured)" if llm.offline else f"{llm.model_name} at {llm.url}"
    ranking = (
        f"hybrid, vectors by {pipeline.embedding_model}"
        if pipeline.has_embedder
        else "BM25 alone (light installation: no vectors)"
    )
    return "\n".join(
        [
            f"pages    {url}/",
            f"API      {url}/openapi.json",
            f"gRPC     {grpc}",
            f"metrics  http://127.0.0.1:{metrics}/metrics",
            f"model    {model}",
            f"ranking  {ranking}",
            "Ctrl-C stops it; nothing is lost.",
        ]
    )
