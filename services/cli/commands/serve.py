"""`nuggetstream serve NAME`: run one service in its own process."""

import asyncio

import click
import structlog

from services.cli.access_settings import AccessSettings
from services.cli.database_url import open_database
from services.cli.fetch_settings import FetchSettings
from services.cli.process import StoppedWaiting, read_settings, run, serve_metrics
from services.cli.registry import GRPC_PORTS, SERVICES
from services.cli.retrieval import RetrievalSettings
from services.cli.settings import PipelineSettings, PlatformSettings, ServerSettings
from services.cli.starting import Start
from services.cli.tuning import tuned
from services.cli.wiring import Parts
from services.runtime.bus import Bus
from services.runtime.lifecycle import started
from services.runtime.llm.settings import LLMSettings
from services.runtime.service import Service, run_service

log = structlog.get_logger(__name__)

_NAMES = ", ".join(f"{name} {port}" for name, port in GRPC_PORTS.items())


@click.command("serve", epilog=f"Names and default gRPC ports: {_NAMES}.")
@click.argument("name", type=click.Choice(sorted(SERVICES)), metavar="NAME", envvar="NUGGETSTREAM_SERVICE")
@click.option("--grpc-port", type=int, help="gRPC port of the service; 0 takes a free one.")
@click.option("--metrics-port", type=int, help="Port of the Prometheus metrics; 0 takes a free one.")
@click.option("--http-port", type=int, help="HTTP port of the gateway.")
@click.option("--host", help="Address to bind to.  [default: 127.0.0.1]")
def command(
    name: str, grpc_port: int | None, metrics_port: int | None, http_port: int | None, host: str | None
) -> None:
    """Run the service NAME until SIGTERM.

    It needs the broker (NUGGETSTREAM_NATS_URL), prepared by `nuggetstream bootstrap`, and the
    database (NUGGETSTREAM_DATABASE_URL), prepared by `nuggetstream migrate`. While one of them is
    away or not prepared, it waits and is not ready: for the broker, its streams and the migrations
    NUGGETSTREAM_START_PATIENCE_S seconds, for a database that is away without a limit.
    """
    given = {"grpc_port": grpc_port, "metrics_port": metrics_port, "http_port": http_port, "host": host}
    server = read_settings(ServerSettings).model_copy(
        update={key: value for key, value in given.items() if value is not None}
    )
    platform, pipeline = read_settings(PlatformSettings), read_settings(PipelineSettings)
    fetch, llm = read_settings(FetchSettings), read_settings(LLMSettings)
    retrieval = read_settings(RetrievalSettings)
    access = read_settings(AccessSettings)

    async def serve(stop: asyncio.Event) -> None:
        database = open_database(platform.database_url, platform.database_connections)
        start = Start(name, server, platform, pipeline, database)
        try:
            async with start.when_prepared(stop) as bus:
                if bus is None:
                    return
                parts = Parts(
                    bus=bus,
                    database=database,
                    platform=platform,
                    pipeline=pipeline,
                    fetch=fetch,
                    llm=llm,
                    host=server.host,
                    http_port=server.http_port,
                    retrieval=retrieval,
                    allowed_hosts=server.hosts,
                    access=access,
                )
                async with SERVICES[name](parts) as service:
                    await _run(start, tuned(service, pipeline), bus, stop)
        except StoppedWaiting:
            return  # stopped before anything was done, which is not an error
        finally:
            await database.close()

    run(serve, server)


async def _run(start: Start, service: Service, bus: Bus, stop: asyncio.Event) -> None:
    metrics = serve_metrics(start.server)

    def ready(grpc_port: int) -> None:
        started()
        log.info("serving", service=start.service, grpc=grpc_port, metrics=metrics, http=service.url)

    await run_service(
        service, bus, stop, grpc_address=start.grpc_address, grace=start.server.grace, ready=ready
    )
