"""What long-running commands share: reading settings with clear errors, logs, metrics and signals."""

import asyncio
import errno
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from signal import Signals
from typing import IO, Any, TypeVar

import click
import structlog
from prometheus_client import start_http_server
from pydantic import ValidationError

from nuggetstream.domain.pipeline import MODEL_STAGES
from nuggetstream.files.opening import UnusableFile
from services.cli.wiring.environment import unknown_variables, warning
from services.cli.wiring.settings import ServerSettings
from services.runtime import logs
from services.runtime.bus import Bus, BusSettings
from services.runtime.errors import StageError
from services.runtime.lifecycle import Main, log_stopping, run_until_signal
from services.runtime.listening import CannotListen
from services.runtime.llm.settings import LLMSettings
from services.runtime.llm.stage_models import require_known
from services.runtime.masking import KNOWN, masked_url
from services.runtime.trace_export import exported
from services.wire.evaluators import EVALUATORS

log = structlog.get_logger(__name__)
T = TypeVar("T")

_LOGGED = ("debug", "info")  # levels at which the log says that a program stops
_DRAIN_SECONDS = 5.0  # after the grace of work in flight, to hand the rest back and to disconnect
_ANSWER_SECONDS = 0.5  # a running broker answers sooner
_WARNED = "warned about unknown variables"  # key in click's context
_ELSEWHERE = "choose a folder of your own (`--help` names the option)"
_UNWRITABLE = {  # what to do about a file that cannot be written
    errno.EROFS: _ELSEWHERE,
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.ENOSPC: f"free some space, or {_ELSEWHERE}",
    errno.EDQUOT: f"free some space, or {_ELSEWHERE}",
}
metrics_port_option = click.option(
    "--metrics-port",
    default=9464,
    show_default=True,
    help="Port of the Prometheus metrics; 0 takes a free one.",
)
"""The option of commands that serve metrics."""
_PORTS = {"HTTP": "http-port", "gRPC": "grpc-port", "metrics": "metrics-port"}


STOPPED = 130  # exit code of a command that a signal ended before its work was done


class StoppedWaiting(click.ClickException):
    """A signal came before the broker answered, so nothing was done."""

    exit_code = STOPPED

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, which is about no error."""
        click.echo(self.format_message(), file=file, err=True)


def read_settings(make: Callable[[], T]) -> T:
    """Read settings from the environment, and warn once about variables that are not settings.

    Raises:
        click.ClickException: A variable has an invalid value; the message names it and says what is wrong.
    """
    _warn_about_unknown_variables()
    try:
        settings = make()
        if isinstance(settings, LLMSettings):
            KNOWN.remember(*settings.secrets())
            _check_models(settings)
        return settings
    except ValidationError as error:
        prefix = str(getattr(make, "model_config", {}).get("env_prefix", ""))
        lines = [f"{_variable(prefix, detail['loc'])}: {detail['msg']}" for detail in error.errors()]
        raise click.ClickException("\n".join(lines)) from error
    except ValueError as error:
        raise click.ClickException(str(error)) from error


def server_settings(**given: int | str | None) -> ServerSettings:
    """Where a process listens and what it logs; values that are given replace those of the environment."""
    update = {name: value for name, value in given.items() if value is not None}
    return read_settings(ServerSettings).model_copy(update=update)


def _check_models(settings: LLMSettings) -> None:
    """Check that every endpoint has a model, and that stages and evaluators with an own one exist.

    Raises:
        ValueError: One has none, or there is none with a name.
    """
    settings.model_name  # noqa: B018 - raises when an endpoint is configured and no model is
    if not settings.stages:
        return
    try:
        require_known(settings.of_stages, [*MODEL_STAGES, *sorted(EVALUATORS)])
        for name in settings.stages:
            settings.for_stage(name).model_name  # noqa: B018
    except ValueError as error:
        raise ValueError(f"NUGGETSTREAM_LLM_STAGES: {error}") from error


def _warn_about_unknown_variables() -> None:
    context = click.get_current_context(silent=True)
    if context is None or context.find_root().meta.get(_WARNED):
        return
    context.find_root().meta[_WARNED] = True
    for name, nearest in unknown_variables(os.environ).items():
        click.echo(warning(name, nearest), err=True)


def _variable(prefix: str, location: tuple[int | str, ...]) -> str:
    """The environment variable of a field: its alias if it has one, else prefix and name."""
    name = "_".join(str(part) for part in location).upper()
    return name if name.startswith((prefix, "OPENAI_")) else f"{prefix}{name}"


def run(main: Main, server: ServerSettings, *, drains: bool = True, name: str = "nuggetstream") -> None:
    """Run until a signal; an error that an operator can correct ends in a message without a traceback.

    Args:
        main: The program, which returns its exit code or, for 0, None.
        server: How long it has after a signal, and what is logged.
        drains: Whether it looks at the event and ends by itself; otherwise a signal cancels it.
        name: Name of the process in traces.

    Raises:
        click.ClickException: A dependency is away, a port is in use, or a setting is wrong.
        SystemExit: The exit code is not 0.
    """
    logs.configure(server.log_level, server.log_format)
    grace = server.grace + _DRAIN_SECONDS if drains else 0.0
    logged = server.log_level in _LOGGED

    def on_stop(number: Signals, grace: float) -> None:
        if logged and (server.log_format == "json" or number is not Signals.SIGINT):
            log_stopping(number, grace)
        else:  # for a person, above a progress bar, unlike click
            print("stopping; Ctrl-C again ends it at once", file=sys.stderr)

    try:
        with exported(name, os.environ):
            code = asyncio.run(run_until_signal(main, grace=grace, on_stop=on_stop))
    except Exception as error:
        message = _for_operator(error)
        if message is None or message is error:
            raise
        raise message from error
    if code:
        raise SystemExit(code)


@asynccontextmanager
async def connected(
    settings: BusSettings, stop: asyncio.Event, tell: Callable[[str], Awaitable[None]] | None = None
) -> AsyncIterator[Bus]:
    """A connection to the broker. While the broker does not answer, the log says so.

    Args:
        settings: Where the broker is, and how long to wait for it.
        stop: Ends the waiting.
        tell: Is told the reason when the broker does not answer at once.

    Raises:
        StoppedWaiting: `stop` was set before a server answered.
        Unavailable: No server answered within `connect_within` seconds.
    """
    servers = ", ".join(masked_url(server) for server in settings.servers)
    async with AsyncExitStack() as stack:
        connecting = asyncio.ensure_future(stack.enter_async_context(Bus.connect(settings)))
        stopping = asyncio.ensure_future(stop.wait())
        either = {connecting, stopping}
        try:
            await asyncio.wait(either, timeout=_ANSWER_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if not any(task.done() for task in either):
                log.warning("waiting for the broker", servers=servers, seconds=settings.connect_within)
                if tell is not None:
                    await tell(f"no broker at {servers} answers")
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                raise StoppedWaiting(f"stopped before a broker at {servers} answered")
            bus = await connecting
        finally:
            connecting.cancel()
            stopping.cancel()
            await asyncio.gather(connecting, stopping, return_exceptions=True)
        yield bus


def serve_metrics(host: str, port: int) -> int:
    """Serve Prometheus metrics on their own port, 0 for a free one, and return the port.

    Raises:
        CannotListen: The port is in use.
    """
    try:
        http, _ = start_http_server(port, host)
    except OSError as error:
        raise CannotListen("metrics", f"{host}:{port}", error.strerror) from error
    return int(http.server_port)


def _for_operator(error: BaseException) -> click.ClickException | None:
    """The message of an error that an operator can correct; None for a bug."""
    if isinstance(error, click.ClickException):
        return error
    if isinstance(error, BaseExceptionGroup):
        messages = [_for_operator(inner) for inner in error.exceptions]
        return messages[0] if all(messages) else None  # a bug in the same group must not be hidden
    if isinstance(error, CannotListen):
        return click.ClickException(f"{error}; choose another port with --{_PORTS[error.protocol]}")
    if isinstance(error, StageError):
        return click.ClickException(KNOWN.redact(f"{error.reason.value}: {error.for_operators}"))
    is_of_machine = isinstance(error, OSError) and not isinstance(error, UnusableFile)
    is_expected = is_of_machine or type(error) is ValueError
    if is_expected or type(error).__module__.startswith("services."):
        advice = _UNWRITABLE.get(getattr(error, "errno", None) or 0)
        return click.ClickException(KNOWN.redact("; ".join(filter(None, [str(error), advice]))))
    return None
