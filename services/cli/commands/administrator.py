"""The connection to a gateway of commands for administrators."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from nuggetstream.client import Client, NuggetstreamError, Unavailable
from nuggetstream.client.calls import KEY_VARIABLE, LOCAL


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
