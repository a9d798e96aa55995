"""The database that NUGGETSTREAM_DATABASE_URL names."""

from typing import Any

import click
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from services.store import DEFAULT_CONNECTIONS
from services.store.database import Database

_VARIABLE = "NUGGETSTREAM_DATABASE_URL"
_FORMS = "postgresql+asyncpg://USER:PASSWORD@HOST/NAME or sqlite+aiosqlite:///FILE"
_DRIVERS = ("postgresql+asyncpg", "sqlite+aiosqlite")


class UnusableDatabaseUrl(click.ClickException):
    """The URL cannot be used; the message says what to set or install."""


def open_database(url: str, connections: int = DEFAULT_CONNECTIONS, **waiting: Any) -> Database:
    """The database of a URL, without connecting to it.

    Args:
        url: The URL.
        connections: Connections to PostgreSQL that are open at most.
        waiting: `owner` and `wait` of the database.

    Raises:
        UnusableDatabaseUrl: The URL is invalid, or its driver is not supported or not installed.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError for a port that is not a number
        raise UnusableDatabaseUrl(f"{_VARIABLE} is not a database URL: set {_FORMS}") from error
    if parsed.drivername not in _DRIVERS:
        raise UnusableDatabaseUrl(f"{_VARIABLE} begins with {parsed.drivername}://: set {_FORMS}")
    if "sslmode" in parsed.query:  # of libpq, as providers of databases show their URLs
        mode = parsed.query["sslmode"]
        raise UnusableDatabaseUrl(f"{_VARIABLE} says sslmode={mode}: write ssl={mode} for this driver")
    try:
        return Database(url, connections, **waiting)
    except ModuleNotFoundError as error:
        message = f"{error.name} is not installed: pip install '.[postgres]' in a checkout"
        raise UnusableDatabaseUrl(message) from error
