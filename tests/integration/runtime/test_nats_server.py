"""The child server: where its binary comes from, what it keeps, and when it ends."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from pathlib import Path

import grpc
import httpx2
import nats
import psutil
import pytest

from services.runtime import nats_server as module
from services.runtime import with_parent
from services.runtime.bus import Bus, BusSettings, Outgoing, StreamSpec, ensure
from services.runtime.nats_server import NatsServer, NatsServerFailed, NatsServerMissing, find_binary

ORPHAN = """
import asyncio, sys
from pathlib import Path
from services.runtime.nats_server import NatsServer

async def main():
    async with NatsServer(Path(sys.argv[1])) as server:
        print(server.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def test_streams_are_there_again_on_the_same_port_after_a_restart(tmp_path):
    async with NatsServer(tmp_path / "with space") as server:
        url = server.url
        async with Bus.connect(BusSettings(servers=(url,))) as bus:
            await ensure(bus.js, (StreamSpec("KEPT", ("kept.>",)),))
            await bus.publish(Outgoing("kept.one", "1", "t", b"x"))
        await server.restart()
        assert server.url == url
        async with Bus.connect(BusSettings(servers=(url,))) as bus:
            assert (await bus.js.stream_info("KEPT")).state.messages == 1
    assert server.pid is None


async def answer_to(address: str, options: dict[str, str]) -> str:
    """What the server says to a client; the library leaves the connection of a rejected one open."""
    host, _, port = address.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await reader.readline()  # what the server is
    writer.write(f"CONNECT {json.dumps(options)}\r\nPING\r\n".encode())
    answer = await asyncio.wait_for(reader.readline(), 90)
    writer.close()
    await writer.wait_closed()
    return answer.decode()


async def test_nobody_without_the_token_of_its_folder_gets_in(nats_server, tmp_path):
    address = nats_server.url.rpartition("@")[2]
    for known in ({}, {"auth_token": "guess"}):
        assert "Authorization Violation" in await answer_to(address, known)
    token = (nats_server._dir / "token").read_text(encoding="ascii").strip()
    assert len(token) >= 32
    async with NatsServer(tmp_path / "other") as other:
        assert (other._dir / "token").read_text(encoding="ascii").strip() != token
    client = await nats.connect(f"nats://{address}", token=token)
    await client.close()
    await nats_server.restart()
    assert nats_server.url == f"nats://{token}@{address}"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of POSIX")
async def test_other_users_can_read_nothing_that_it_writes(tmp_path):
    folder = tmp_path / "nats"
    folder.mkdir(mode=0o755)  # as older versions created it
    async with NatsServer(folder) as server, Bus.connect(BusSettings(servers=(server.url,))) as bus:
        await ensure(bus.js, (StreamSpec("KEPT", ("kept.>",)),))
        await bus.publish(Outgoing("kept.one", "1", "t", b"x"))
        assert folder.stat().st_mode & 0o777 == 0o700
        private = [path for path in folder.rglob("*") if not path.name.endswith((".log", ".ports"))]
        assert len(private) > 5
        assert {oct(path.stat().st_mode & 0o077) for path in private} == {"0o0"}


async def test_what_it_confirms_is_on_disk(nats_server):
    monitoring = nats_server._monitoring
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{monitoring}", timeout=90) as http:
        config = (await http.get("/jsz?config=true")).json()["config"]
    assert config["sync_always"] is True


async def test_it_listens_on_loopback_only(nats_server):
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(nats_server.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


async def test_a_taken_port_is_reported_with_the_servers_own_words(nats_server, tmp_path):
    port = int(nats_server.url.rsplit(":", 1)[1])
    with pytest.raises(NatsServerFailed, match="address already in use"):
        async with NatsServer(tmp_path / "second", port=port):
            pass


async def test_ctrl_c_in_the_terminal_does_not_reach_it(nats_server):
    assert os.getpgid(nats_server.pid) != os.getpgid(0)


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux")
async def test_it_ends_when_its_parent_is_killed(tmp_path):
    root = Path(__file__).parents[3]
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, str(tmp_path),
        env={**os.environ, "PYTHONPATH": str(root)}, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    child = psutil.Process(int(await parent.stdout.readline()))
    parent.send_signal(signal.SIGKILL)
    await parent.communicate()
    await asyncio.to_thread(child.wait, 30)


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux")
async def test_the_program_finds_no_signal_ignored_that_its_parent_did_not_ignore():
    launcher = (sys.executable, with_parent.__file__, str(os.getpid()))
    assert await _signals_ignored(*launcher) == await _signals_ignored()


async def _signals_ignored(*launcher):
    command = (*launcher, "/bin/cat", "/proc/self/status")
    program = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    said, _ = await program.communicate()
    return re.search(rb"SigIgn:\s*(\w+)", said).group(1)


async def test_calls_under_way_do_not_break_a_start(tmp_path):
    """gRPC's fork handlers would start threads in the child and abort it: there must be no fork."""
    grpc_server = grpc.aio.server()
    port = grpc_server.add_insecure_port("127.0.0.1:0")
    await grpc_server.start()
    async with contextlib.AsyncExitStack() as stack:
        stack.push_async_callback(grpc_server.stop, 0)
        own = [("grpc.use_local_subchannel_pool", 1)]
        channels = [
            await stack.enter_async_context(grpc.aio.insecure_channel(f"127.0.0.1:{port}", options=own))
            for _ in range(8)
        ]
        callers = [asyncio.create_task(_call_for_ever(channel)) for channel in channels]
        for caller in callers:
            stack.callback(caller.cancel)
        for number in range(12):  # with a fork, the third breaks as a rule
            async with NatsServer(tmp_path / str(number)) as server:
                assert psutil.Process(server.pid).name() == "nats-server"
        assert not any(caller.done() for caller in callers)


async def _call_for_ever(channel):
    while True:
        with contextlib.suppress(grpc.aio.AioRpcError):
            await channel.unary_unary("/no.Such/Method")(b"")


def test_the_packaged_binary_comes_first_then_the_variable_then_the_path(monkeypatch, tmp_path):
    named, on_path = tmp_path / "named", tmp_path / "nats-server"
    for file in (named, on_path):
        file.write_text("#!/bin/sh\n")
        file.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("NATS_SERVER_BIN", str(named))
    packaged = find_binary()
    assert packaged not in (named, on_path)
    monkeypatch.setattr(module, "_packaged", lambda: None)
    assert find_binary() == named
    monkeypatch.delenv("NATS_SERVER_BIN")
    assert find_binary() == on_path
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NatsServerMissing, match="NATS_SERVER_BIN"):
        find_binary()
