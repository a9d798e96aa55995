"""The connection to a gateway of commands for administrators, and what such commands have in common."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import click

from nuggetstream.client import Client, NuggetstreamError, Unavailable
from nuggetstream.client.calls import KEY_VARIABLE, LOCAL
from nuggetstream.views.common import View

V = TypeVar("V", bound=View)

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object per line.")


@contextmanager
def connected(url: str) -> Iterator[Client]:
    """A client of the gateway that sends NUGGETSTREAM_API_KEY or else the administrators' token, if set.

    Its errors end the command.
    """
    from services.cli.wiring.process import read_settings
    from services.cli.wiring.settings import PlatformSettings

    token = read_settings(PlatformSettings).admin_token
    try:
        with Client(url, key=os.environ.get(KEY_VARIABLE) or token) as client:
            yield client
    except (NuggetstreamError, ValueError) as error:
        where = " (is `nuggetstream up` running? --url names another gateway)"
        hint = where if isinstance(error, Unavailable) and url == LOCAL else ""
        raise click.ClickException(f"{error}{hint}") from error


def asking_gateway(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command with the option --url, whose first argument is a client of that gateway."""

    @click.option("--url", "gateway", default=LOCAL, show_default=True, help="Base URL of the gateway.")
    @wraps(command)
    def asking(*arguments: Any, gateway: str, **options: Any) -> Any:
        with connected(gateway) as client:
            return command(client, *arguments, **options)

    return asking


def echo_each(entries: Iterable[V], line: Callable[[V], str], *, as_json: bool) -> None:
    """Print entries, each as one line for people or as JSON."""
    for entry in entries:
        click.echo(entry.model_dump_json() if as_json else line(entry))
