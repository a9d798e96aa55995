"""gRPC with a certificate: whom clients trust, and what happens when it is renewed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import trustme
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime import rpc
from services.runtime.rpc_tls import AUTHORITY, KEY, Certificates
from tests.certificates import certificates
from tests.e2e.processes import run_here

HERE = "127.0.0.1"


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[int]:
    async with rpc.serve(f"{HERE}:0", (), grace=0.0, security=Certificates(folder).server()) as port:
        yield port


async def answers(port: int, security: grpc.ChannelCredentials | None) -> bool:
    async with rpc.channel(f"{HERE}:{port}", security) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            await stub.Check(health_pb2.HealthCheckRequest(), timeout=30)
        except grpc.aio.AioRpcError as error:
            return error.code() is not grpc.StatusCode.UNAVAILABLE
        return True


async def test_a_service_with_a_certificate_answers_those_who_trust_its_authority(tmp_path: Path) -> None:
    ours = certificates(tmp_path / "ours", HERE)
    theirs = certificates(tmp_path / "theirs", HERE)
    async with served(ours) as port:
        assert await answers(port, Certificates(ours).client())
        assert not await answers(port, Certificates(theirs).client())
        assert not await answers(port, None)


async def test_a_renewed_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    authority = trustme.CA()
    folder = certificates(tmp_path / "ours", "elsewhere.example", authority=authority)
    client = Certificates(folder).client()
    async with served(folder) as port:
        assert not await answers(port, client)  # it is another's
        certificates(folder, HERE, authority=authority)
        assert await answers(port, client)


async def test_a_client_that_trusts_two_authorities_outlives_the_change_to_the_new_one(
    tmp_path: Path,
) -> None:
    before, after = (certificates(tmp_path / name, HERE) for name in ("before", "after"))
    both = tmp_path / "both"
    both.mkdir()
    (both / AUTHORITY).write_bytes(b"".join((folder / AUTHORITY).read_bytes() for folder in (before, after)))
    client = Certificates(both).client()
    for folder in (before, after):
        async with served(folder) as port:
            assert await answers(port, client)


async def test_the_health_command_speaks_tls(tmp_path: Path) -> None:
    folder = certificates(tmp_path / "ours", "judge")
    async with served(folder) as port:
        asked = ("health", "judge", "--grpc-port", str(port))
        code, output = await asyncio.to_thread(run_here, *asked, "--tls-dir", str(folder))
        assert (code, output) == (0, "SERVING\n")
        code, _ = await asyncio.to_thread(run_here, *asked)
        assert code == 1


def test_a_folder_that_lacks_a_file_is_refused(tmp_path: Path) -> None:
    folder = certificates(tmp_path / "ours", HERE)
    (folder / KEY).unlink()
    code, output = run_here("serve", "rater", environment={"NUGGETSTREAM_GRPC_TLS_DIR": str(folder)})
    assert (code, output) == (1, f"Error: NUGGETSTREAM_GRPC_TLS_DIR: {folder} has no tls.key\n")
