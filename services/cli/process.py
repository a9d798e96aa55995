"""What every long-running command shares: settings read with clear errors, logs, metrics, signals."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

import click
from prometheus_client import start_http_server
from pydantic import ValidationError

from services.cli.settings import ServerSettings
from services.runtime import logs
from services.runtime.errors import StageError
from services.runtime.lifecycle import run_until_signal
from services.runtime.llm.settings import LLMSettings

T = TypeVar("T")


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
        code = asyncio.run(run_until_signal(main, grace=server.grace + 5))
    except Exception as error:
        mended = _mendable(error)
        if mended is None:
            raise
        raise click.ClickException(mended) from error
    if code:
        raise SystemExit(code)


def serve_metrics(server: ServerSettings) -> int:
    """Serve Prometheus metrics on their own port; returns the port.

    Raises:
        click.ClickException: the port is taken.
    """
    try:
        http, _ = start_http_server(server.metrics_port, server.host)
    except OSError as error:
        where = f"{server.host}:{server.metrics_port}"
        raise click.ClickException(f"metrics cannot be served on {where}: {error.strerror}") from error
    return int(http.server_port)


def _mendable(error: BaseException) -> str | None:
    if isinstance(error, BaseExceptionGroup):
        found = [_mendable(inner) for inner in error.exceptions]
        return found[0] if all(found) else None  # a bug beside it must not be hidden
    if isinstance(error, StageError | OSError) or type(error) is ValueError:
        return str(error)
    return str(error) if type(error).__module__.startswith("services.") else None
