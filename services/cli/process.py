"""What every long-running command shares: settings read with clear errors, logs, metrics, signals."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import click
import structlog
from prometheus_client import start_http_server
from pydantic import ValidationError

from services.cli.settings import ServerSettings
from services.runtime import logs
from services.runtime.bus import Bus, BusSettings
from services.runtime.errors import StageError
from services.runtime.lifecycle import run_until_signal
from services.runtime.listening import CannotListen
from services.runtime.llm.settings import LLMSettings

log = structlog.get_logger(__name__)
T = TypeVar("T")

_GOODBYE = 5.0  # seconds beyond the grace of work in flight: to hand the rest back and to disconnect
_AT_ONCE = 0.5  # seconds: a broker that runs answers sooner
_PORTS = {"HTTP": "http-port", "gRPC": "grpc-port", "metrics": "metrics-port"}


class StoppedWaiting(click.ClickException):
    """A signal came before the broker answered: nothing had begun."""


def read_settings(make: Callable[[], T]) -> T:
    """Read settings from the environment.

    Raises:
        click.ClickException: naming the variable and what is wrong with it.
    """
    try:
        settings = make()
        if isinstance(settings, LLMSettings):
            settings.model_name  # noqa: B018 - raises when an endpoint is configured and no model is
        return settings
    except ValidationError as error:
        prefix = str(getattr(make, "model_config", {}).get("env_prefix", ""))
        lines = [f"{_variable(prefix, detail['loc'])}: {detail['msg']}" for detail in error.errors()]
        raise click.ClickException("\n".join(lines)) from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def _variable(prefix: str, place: tuple[int | str, ...]) -> str:
    """The environment variable of a field; fields with names of their own are given by those."""
    name = "_".join(str(part) for part in place).upper()
    return name if name.startswith((prefix, "OPENAI_")) else f"{prefix}{name}"


def run(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]], server: ServerSettings) -> None:
    """Run until a signal; exit with a message instead of a traceback for what an operator can mend.

    Raises:
        click.ClickException: a dependency is away, a port is taken, a setting is wrong.
    """
    logs.configure(server.log_level, server.log_format)
    try:
        code = asyncio.run(run_until_signal(main, grace=server.grace + _GOODBYE))
    except Exception as error:
        refusal = _mendable(error)
        if refusal is None or refusal is error:
            raise
        raise refusal from error
    if code:
        raise SystemExit(code)


@asynccontextmanager
async def connected(settings: BusSettings, stop: asyncio.Event) -> AsyncIterator[Bus]:
    """A connection to the broker; where that does not answer at once, the log says what is waited for.

    Raises:
        StoppedWaiting: when `stop` is set before a server has answered.
        Unavailable: when no server answers within `connect_within` seconds.
    """
    servers = ", ".join(settings.servers)
    waiting = partial(log.warning, "waiting for the broker", servers=servers, seconds=settings.connect_within)
    word = asyncio.get_running_loop().call_later(_AT_ONCE, waiting)
    async with AsyncExitStack() as stack:
        answer = asyncio.ensure_future(stack.enter_async_context(Bus.connect(settings)))
        asked = asyncio.ensure_future(stop.wait())
        try:
            await asyncio.wait({answer, asked}, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                raise StoppedWaiting(f"stopped before a broker at {servers} answered")
            bus = await answer
        finally:
            word.cancel()
            answer.cancel()
            asked.cancel()
            await asyncio.gather(answer, asked, return_exceptions=True)
        yield bus


def serve_metrics(server: ServerSettings) -> int:
    """Serve Prometheus metrics on their own port; returns the port.

    Raises:
        CannotListen: the port is taken.
    """
    try:
        http, _ = start_http_server(server.metrics_port, server.host)
    except OSError as error:
        raise CannotListen("metrics", f"{server.host}:{server.metrics_port}", error.strerror) from error
    return int(http.server_port)


def _mendable(error: BaseException) -> click.ClickException | None:
    """The error in words for an operator; None for a bug."""
    if isinstance(error, click.ClickException):
        return error
    if isinstance(error, BaseExceptionGroup):
        found = [_mendable(inner) for inner in error.exceptions]
        return found[0] if all(found) else None  # a bug beside it must not be hidden
    if isinstance(error, CannotListen):
        option = _PORTS[error.protocol]
        variable = f"NUGGETSTREAM_{option.replace('-', '_').upper()}"
        return click.ClickException(f"{error}; choose another port with --{option} or {variable}")
    known = isinstance(error, StageError | OSError) or type(error) is ValueError
    return (
        click.ClickException(str(error)) if known or type(error).__module__.startswith("services.") else None
    )
