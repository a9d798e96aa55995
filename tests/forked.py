"""Processes of the platform for tests, forked from one that has imported it (see `tests.fork_server`)."""

import asyncio
import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGTERM, Signals
from typing import IO

COMMAND = "services.cli.main"
_PID_BYTES = 32


@dataclass
class Forked:
    """A process, with the interface of `asyncio.subprocess.Process`.

    Attributes:
        pid: Its process id.
        stdout: What it prints, where that was asked for as PIPE.
        stderr: Its standard error, where that was asked for as PIPE.
    """

    pid: int
    stdout: asyncio.StreamReader | None
    stderr: asyncio.StreamReader | None
    _exit_code: "asyncio.Future[int]"

    @property
    def returncode(self) -> int | None:
        """Its exit code, or minus the signal that ended it; None while it runs."""
        return self._exit_code.result() if self._exit_code.done() else None

    async def wait(self) -> int:
        return await asyncio.shield(self._exit_code)

    async def communicate(self) -> tuple[bytes, bytes]:
        """Everything that it still prints until it ends."""
        streams = [stream.read() if stream else _nothing() for stream in (self.stdout, self.stderr)]
        stdout, stderr = await asyncio.gather(*streams)
        await self.wait()
        return stdout, stderr

    def send_signal(self, number: Signals) -> None:
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(SIGKILL)

    def terminate(self) -> None:
        self.send_signal(SIGTERM)


async def forked(
    *arguments: str,
    environment: Mapping[str, str],
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    module: str = COMMAND,
) -> Forked:
    """What `python -m MODULE ARGUMENT…` starts.

    Args:
        arguments: Arguments of the command.
        environment: All variables of its environment.
        stdout: A file, or PIPE; None is that of this process.
        stderr: A file, PIPE, or STDOUT; None is that of this process.
        module: The module that it runs as `__main__`.
    """
    with ExitStack() as stack:
        null = stack.enter_context(Path(os.devnull).open("rb"))
        output, out = _stream(stack, stdout, 1)
        errors, err = (None, out) if stderr == subprocess.STDOUT else _stream(stack, stderr, 2)
        ended, end = os.pipe()
        stack.callback(os.close, end)
        request = {
            "command": [module, *arguments],
            "environment": dict(environment),
            "folder": str(Path.cwd()),
        }
        pid = await asyncio.to_thread(_fork, json.dumps(request).encode(), [null.fileno(), out, err, end])
    streams = [None if pipe is None else await _reader(pipe) for pipe in (output, errors)]
    return Forked(pid, *streams, _exit_code_from(ended))


async def executed(
    *arguments: str, environment: Mapping[str, str], stdout: IO[bytes], stderr: IO[bytes]
) -> asyncio.subprocess.Process:
    """The same process by fork and exec, for benchmarks: the memory that it takes is its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", COMMAND, *arguments, env=dict(environment), stdout=stdout, stderr=stderr
    )


def _stream(stack: ExitStack, chosen: int | IO[bytes] | None, number: int) -> tuple[int | None, int]:
    """Where this process reads, if it does, and where the child writes."""
    if chosen is None:
        return None, number
    if isinstance(chosen, int):
        assert chosen == subprocess.PIPE
        here, there = os.pipe()
        stack.callback(os.close, there)
        return here, there
    return None, chosen.fileno()


async def _reader(pipe: int) -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(pipe, "rb", buffering=0)
    )
    return reader


def _exit_code_from(pipe: int) -> "asyncio.Future[int]":
    loop = asyncio.get_running_loop()
    exit_code: asyncio.Future[int] = loop.create_future()

    def read() -> None:
        loop.remove_reader(pipe)
        written = os.read(pipe, _PID_BYTES)
        os.close(pipe)
        if written:
            exit_code.set_result(int(written))
        else:
            exit_code.set_exception(RuntimeError("the process that forks others has ended"))

    loop.add_reader(pipe, read)
    return exit_code


async def _nothing() -> bytes:
    return b""


_lock = threading.Lock()


def _fork(request: bytes, descriptors: list[int]) -> int:
    with _lock:
        control = fork_server(Path(sys.executable))
        socket.send_fds(control, [request], descriptors)
        answer = control.recv(_PID_BYTES)
    assert answer, "the process that forks others has ended"
    return int(answer)


@functools.cache
def fork_server(python: Path) -> socket.socket:
    """The connection to the process that forks others, which ends with this one.

    Args:
        python: The interpreter of the installation that the processes run in.
    """
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    environment = os.environ | dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    own = python.parent == Path(sys.executable).parent  # may run tests.*
    program = ["-m", "tests.fork_server"] if own else ["-P", str(Path(__file__).with_name("fork_server.py"))]
    with there:
        process = subprocess.Popen(
            [python, *program, str(there.fileno())],
            env=environment, cwd=Path(__file__).parents[1], pass_fds=[there.fileno()],
        )  # fmt: skip

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here
