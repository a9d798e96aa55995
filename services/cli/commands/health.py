"""`nuggetstream health`: check a running service, for the health checks of containers."""

import asyncio
from typing import Any

import click
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.cli.process import read_settings
from services.cli.registry import GRPC_PORTS
from services.cli.settings import ServerSettings
from services.runtime import rpc

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - replaced, not bound to


@click.command("health")
@click.argument("name", type=click.Choice(sorted(GRPC_PORTS)), metavar="NAME", envvar="NUGGETSTREAM_SERVICE")
@click.option("--grpc-port", type=int, help="Its gRPC port, if it is not the default one.")
@click.option("--live", is_flag=True, help="Check liveness, which a draining service also has.")
@click.option("--within", default=5.0, show_default=True, help="Seconds to wait for the reply.")
def command(name: str, grpc_port: int | None, live: bool, within: float) -> None:
    """Check whether the service NAME on this machine is ready; exit 1 if it is not.

    `nuggetstream serve --help` lists the names.
    """
    server = read_settings(ServerSettings)
    port = grpc_port or server.grpc_port or GRPC_PORTS[name]
    target = f"{_ANY_ADDRESS.get(server.host, server.host)}:{port}"
    try:
        status = asyncio.run(_ask(target, rpc.LIVE if live else "", within))
    except grpc.aio.AioRpcError as error:
        raise click.ClickException(f"{target}: {error.code().name} {error.details()}") from error
    status_name = health_pb2.HealthCheckResponse.ServingStatus.Name(status)
    if status != health_pb2.HealthCheckResponse.SERVING:
        raise click.ClickException(f"{target}: {status_name}")
    click.echo(status_name)


async def _ask(target: str, name: str, within: float) -> int:
    async with rpc.channel(target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # its type stubs lack its methods
        reply = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=within)
        return int(reply.status)
