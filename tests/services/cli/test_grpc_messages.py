"""gRPC prints nothing of its own beside what a command says; errors are still errors."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import asyncio, os
from services.cli.main import main
main.get_command(None, "serve")
import grpc
from services.runtime import rpc

async def call(port):
    async with rpc.channel(f"127.0.0.1:{port}") as channel:
        while True:
            try:
                await channel.unary_unary("/no.Such/Method")(b"")
            except grpc.aio.AioRpcError as error:
                assert error.code() is grpc.StatusCode.UNIMPLEMENTED

async def child():
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)

async def run():
    async with rpc.serve("127.0.0.1:0", (), state=rpc.Health()) as port:
        calls = [asyncio.create_task(call(port)) for _ in range(8)]
        for _ in range(20):
            await asyncio.sleep(0.02)
            await child()
        assert not any(task.done() for task in calls)
        for task in calls:
            task.cancel()
    try:
        async with rpc.channel(f"127.0.0.1:{port}") as channel:
            await channel.unary_unary("/no.Such/Method")(b"", timeout=90)
    except grpc.aio.AioRpcError as error:
        print(error.code().name)

asyncio.run(run())
"""


@pytest.mark.slow
def test_a_child_that_starts_while_calls_are_in_flight_logs_nothing() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GRPC_")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("UNAVAILABLE\n", "")
