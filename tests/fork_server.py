"""A process that has imported the platform, and forks a child for each command that a test starts.

    python -P fork_server.py FILE_DESCRIPTOR

To import the platform takes seconds of processor time, a fork some milliseconds. The child is a process as
any other: with an environment, a folder, streams, signals and an exit code of its own. Each request over the
socket is JSON, with the file descriptors of stdin, stdout, stderr, and of a pipe for the exit code. The first
part of a command is a module, or a file of Python. The child lacks the packages that this process lacks.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import sys
from pathlib import Path

import services

_MAIN = "services.cli.main"
_IMPORTED_LATER = (
    "anyio._backends._asyncio", "asyncpg", "faiss", "grpc_health.v1.health",
    "grpc_reflection.v1alpha.reflection", "pgvector.sqlalchemy", "py3langid", "pydantic.v1",
    "rich._emoji_codes", "sentencex",
    "sqlalchemy.dialects.postgresql.asyncpg", "sqlalchemy.dialects.sqlite.aiosqlite", "uvicorn.lifespan.off",
    "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
_MESSAGE_BYTES = 1 << 20
_STREAMS = 3


def preload() -> None:
    """Import all modules of the platform, and what they import when they run."""
    ours = [module.name for module in pkgutil.walk_packages(services.__path__, "services.")]
    for name in (*ours, *_IMPORTED_LATER):
        if name != _MAIN:  # runs as a program
            with contextlib.suppress(ModuleNotFoundError):  # the installation lacks an optional package
                importlib.import_module(name)


def serve(control: socket.socket) -> list[str]:
    """Fork a child per request until the socket is closed; returns the command in each child alone."""
    assert len(list(Path("/proc/self/task").iterdir())) == 1, "a fork would lose the other threads"
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages of all objects
    exit_pipes: dict[int, int] = {}
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        for readable in (control, wake):
            selector.register(readable, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake in ready:
                wake.recv(_MESSAGE_BYTES)
                _report_ended(exit_pipes)
            if control in ready:
                message, descriptors, *_ = socket.recv_fds(control, _MESSAGE_BYTES, _STREAMS + 1)
                if not message:
                    sys.exit()
                if (child := os.fork()) == 0:
                    break
                for descriptor in descriptors[:_STREAMS]:
                    os.close(descriptor)
                exit_pipes[child] = descriptors[_STREAMS]
                control.send(str(child).encode())
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for inherited in (wake, woken, control):
        inherited.close()
    for descriptor in (descriptors[_STREAMS], *exit_pipes.values()):
        os.close(descriptor)
    return _become(json.loads(message), descriptors[:_STREAMS])


def _report_ended(exit_pipes: dict[int, int]) -> None:
    """Write the exit codes of children that have ended to their pipes."""
    while exit_pipes:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        pipe = exit_pipes.pop(child)
        os.write(pipe, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(pipe)


def _become(request: dict[str, object], streams: list[int]) -> list[str]:
    """Take over the streams, environment and folder of a request; returns its command."""
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    environment, command = request["environment"], request["command"]
    assert isinstance(environment, dict)
    assert isinstance(command, list)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(str(request["folder"]))
    return command


if __name__ == "__main__":
    preload()
    program, *sys.argv[1:] = serve(socket.socket(fileno=int(sys.argv[1])))
    if program.endswith(".py"):
        runpy.run_path(program, run_name="__main__")
    else:
        runpy.run_module(program, run_name="__main__", alter_sys=True)
