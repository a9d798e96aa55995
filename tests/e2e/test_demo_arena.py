"""`nuggetstream demo --arena` as a user runs it: it says where the arena is, and Ctrl-C ends it."""

import signal
import socket
from asyncio.subprocess import PIPE
from pathlib import Path

import httpx2

from tests.e2e.processes import clean_environment, run_command, run_here
from tests.forked import forked

LIGHT = clean_environment(embedding_model="none")
FREE = ("--arena", "--http-port", "0", "--arena-port", "0")


async def test_the_arena_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    child = await forked("demo", *FREE, "--out", str(tmp_path), environment=LIGHT, stdout=PIPE)
    assert child.stdout is not None
    where: dict[str, str] = {}
    try:
        while not (line := (await child.stdout.readline()).decode()).startswith("Ctrl-C"):
            assert line, "it ended before it was ready"
            what, _, rest = line.strip().partition(" ")
            where[what] = rest.split()[0] if rest else ""
        async with httpx2.AsyncClient(timeout=90) as http:
            assert "Which answer is better?" in (await http.get(where["arena"])).text
            earlier = (await http.get(where["board"].replace("/leaderboard", "/v1/battles"))).json()
        assert {battle["id"] for battle in earlier} >= {"demo-01", "demo-16"}
        child.send_signal(signal.SIGINT)
        await child.communicate()
        assert child.returncode == 0
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def test_a_taken_port_of_the_arena_is_named_with_its_option(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        arguments = ("demo", *FREE, "--arena-port", str(port), "--out", str(tmp_path))
        code, output = await run_command(LIGHT, *arguments)
    assert (code, "Traceback" in output) == (1, False)
    assert f"cannot listen on 127.0.0.1:{port}" in output
    assert "choose another port with --arena-port" in output


def test_ports_without_the_arena_are_rejected() -> None:
    code, output = run_here("demo", "--arena-port", "0")
    assert code == 2
    assert "--http-port and --arena-port need --arena" in output
