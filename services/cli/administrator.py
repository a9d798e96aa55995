"""The connection to a gateway of commands for administrators."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

from nuggetstream.client import Client, NuggetstreamError


@contextmanager
def connected(url: str) -> Iterator[Client]:
    """A client of the gateway that sends the administrators' token, if set; its errors end the command."""
    from services.cli.process import read_settings
    from services.cli.settings import PlatformSettings

    token = read_settings(PlatformSettings).admin_token
    headers = None if token is None else {"authorization": f"Bearer {token}"}
    try:
        with Client(url, headers=headers) as client:
            yield client
    except (NuggetstreamError, ValueError) as error:
        raise click.ClickException(str(error)) from error
