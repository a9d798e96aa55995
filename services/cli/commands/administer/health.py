"""`nuggetstream health`: check a running service, for the health checks of containers.

Probes run it often, so it imports gRPC and no settings.
"""

from pathlib import Path
from typing import Any

import click
import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.cli.wiring.registry import GRPC_PORTS
from services.runtime.rpc_tls import Certificates

_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104 - replaced, not bound to
_LIVE = "live"  # `services.runtime.rpc.LIVE`, whose module takes longer to import than the question to answer


@click.command("health")
@click.argument("name", type=click.Choice(sorted(GRPC_PORTS)), metavar="NAME", envvar="NUGGETSTREAM_SERVICE")
@click.option(
    "--grpc-port",
    type=int,
    help="Its gRPC port, if it is not the default one.",
)
@click.option(
    "--host",
    envvar="NUGGETSTREAM_HOST",
    default="127.0.0.1",
    show_default=True,
    help="Address that it is bound to.",
)
@click.option("--live", is_flag=True, help="Check liveness, which a draining service also has.")
@click.option(
    "--tls-dir",
    envvar="NUGGETSTREAM_GRPC_TLS_DIR",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder with the certificate of the services.",
)
@click.option("--within", default=5.0, show_default=True, help="Seconds to wait for the reply.")
def command(
    *, name: str, grpc_port: int | None, host: str, live: bool, tls_dir: Path | None, within: float
) -> None:
    """Check whether the service NAME on this machine is ready; exit 1 if it is not.

    `nuggetstream serve --help` lists the names.
    """
    target = f"{_ANY_ADDRESS.get(host, host)}:{grpc_port or GRPC_PORTS[name]}"
    request = health_pb2.HealthCheckRequest(service=_LIVE if live else "")
    try:
        with _channel(target, name, tls_dir) as channel:
            stub: Any = health_pb2_grpc.HealthStub(channel)  # its type stubs lack its methods
            reply = stub.Check(request, timeout=within)
    except grpc.RpcError as error:
        raise click.ClickException(f"{target}: {error.code().name} {error.details()}") from error
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status)
    if reply.status != health_pb2.HealthCheckResponse.SERVING:
        raise click.ClickException(f"{target}: {status}")
    click.echo(status)


def _channel(target: str, name: str, tls_dir: Path | None) -> grpc.Channel:
    if tls_dir is None:
        return grpc.insecure_channel(target)
    # The certificate names the service, and not the address of this machine.
    options = [("grpc.ssl_target_name_override", name)]
    return grpc.secure_channel(target, Certificates(tls_dir).client(), options=options)
