"""`nuggetstream serve NAME`: run one service in its own process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click
import structlog

from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.database_url import open_database
from services.cli.wiring.embedding import Model, open_model
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.parts import Parts
from services.cli.wiring.process import (
    StoppedWaiting,
    metrics_port_option,
    read_settings,
    run,
    serve_metrics,
    server_settings,
)
from services.cli.wiring.registry import GRPC_PORTS, HTTP_PORT, SERVICES, open_service
from services.cli.wiring.reranking import open_reranking
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.cli.wiring.starting import Start
from services.runtime.lifecycle import started
from services.runtime.llm.settings import LLMSettings
from services.runtime.service import run_service
from services.store.answering import watch_answers
from services.store.database import Database

if TYPE_CHECKING:
    from services.retriever.reranking import Reranking

log = structlog.get_logger(__name__)

_GATEWAY_WAIT = 1.0  # seconds for a connection to the database, since a client is waiting
_NAMES = ", ".join(f"{name} {port}" for name, port in GRPC_PORTS.items())


@click.command("serve", epilog=f"Names and default gRPC ports: {_NAMES}.")
@click.argument("name", type=click.Choice(sorted(SERVICES)), metavar="NAME", envvar="NUGGETSTREAM_SERVICE")
@click.option("--grpc-port", type=int, help="gRPC port of the service; 0 takes a free one.")
@metrics_port_option
@click.option("--http-port", default=HTTP_PORT, show_default=True, help="HTTP port of the gateway.")
@click.option("--host", help="Address to bind to.  [default: 127.0.0.1]")
def command(name: str, grpc_port: int | None, metrics_port: int, http_port: int, host: str | None) -> None:
    """Run the service NAME until SIGTERM.

    It needs the broker (NUGGETSTREAM_NATS_URL), prepared by `nuggetstream bootstrap`, and the database
    (NUGGETSTREAM_DATABASE_URL), prepared by `nuggetstream migrate`. While one of them is away or not
    prepared, it waits and is not ready: for the broker, its streams and the migrations
    ten minutes, for a database that is away without a limit. The indexer also
    waits until its embedding model is loaded, or its endpoint answers, and the retriever until a
    cross-encoder that it runs is loaded and, where battles search the corpus, its index is filled.
    """
    server = server_settings(host=host)
    platform, pipeline = read_settings(PlatformSettings), read_settings(PipelineSettings)
    fetch, llm = read_settings(FetchSettings), read_settings(LLMSettings)
    retrieval, access = read_settings(RetrievalSettings), read_settings(AccessSettings)
    entry = read_settings(EntrySettings)
    models = partial(_models, name, pipeline, llm, retrieval)
    port = GRPC_PORTS[name] if grpc_port is None else grpc_port
    starting = partial(
        Start, service=name, server=server, platform=platform, grpc_port=port, http_port=http_port
    )

    async def serve(stop: asyncio.Event) -> None:
        waiting = {"owner": name} | ({"wait": _GATEWAY_WAIT} if name == "gateway" else {})
        database = open_database(platform.database_url, platform.database_connections, **waiting)
        try:
            async with models(database) as (embedder, reranking):
                start = starting(database=database, embedder=embedder, reranking=reranking)
                async with start.when_prepared(stop) as bus:
                    if bus is not None:
                        parts = Parts(
                            bus=bus,
                            database=database,
                            platform=platform,
                            pipeline=pipeline,
                            fetch=fetch,
                            llm=llm,
                            host=server.host,
                            http_port=http_port,
                            retrieval=retrieval,
                            embedder=embedder,
                            reranking=reranking,
                            allowed_hosts=server.allowed_hosts,
                            access=access,
                            entry=entry,
                        )
                        await _run(start, parts, metrics_port, stop)
        except StoppedWaiting:
            return  # stopped before anything was done, which is not an error
        finally:
            await database.close()

    run(serve, server, name=f"nuggetstream-{name}")


@asynccontextmanager
async def _models(
    name: str, pipeline: PipelineSettings, llm: LLMSettings, retrieval: RetrievalSettings, database: Database
) -> AsyncIterator[tuple[Model | None, "Reranking | None"]]:
    """The embedding model of the indexer, or the reranker of the retriever; nothing for other services."""
    if name == "indexer":
        async with open_model(read_settings(EmbeddingSettings), pipeline, llm, database) as embedder:
            yield embedder, None
    elif name == "retriever":
        async with open_reranking(retrieval, llm, database) as reranking:
            yield None, reranking
    else:
        yield None, None


async def _run(start: Start, parts: Parts, metrics_port: int, stop: asyncio.Event) -> None:
    async with open_service(start.service, parts) as opened:
        watching, server = partial(watch_answers, parts.database), start.server
        service = replace(opened, background=[*opened.background, watching])
        metrics = serve_metrics(server.host, metrics_port)

        def ready(grpc_port: int) -> None:
            started()
            log.info("serving", service=start.service, grpc=grpc_port, metrics=metrics, http=service.url)

        await run_service(
            service,
            parts.bus,
            stop,
            grpc_address=start.grpc_address,
            security=start.security,
            grace=server.grace,
            ready=ready,
        )
