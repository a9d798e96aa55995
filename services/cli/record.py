"""The record of separate services: the database that NUGGETSTREAM_DATABASE_URL names."""

import click
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from services.store.database import Database

_VARIABLE = "NUGGETSTREAM_DATABASE_URL"
_FORMS = "postgresql+asyncpg://USER:PASSWORD@HOST/NAME or sqlite+aiosqlite:///FILE"
_DRIVERS = ("postgresql+asyncpg", "sqlite+aiosqlite")


class NoSuchRecord(click.ClickException):
    """The URL names no database that can be used here; the message says what to set or install."""


def open_record(url: str) -> Database:
    """The database of a URL, not connected yet.

    Raises:
        NoSuchRecord: the URL cannot be read, asks for another driver, or its driver is not installed.
    """
    try:
        driver = make_url(url).drivername
    except (ArgumentError, ValueError) as error:  # the latter of a port that is no number
        raise NoSuchRecord(f"{_VARIABLE} is no database URL: set {_FORMS}") from error
    if driver not in _DRIVERS:
        raise NoSuchRecord(f"{_VARIABLE} begins with {driver}://: set {_FORMS}")
    try:
        return Database(url)
    except ModuleNotFoundError as error:
        raise NoSuchRecord(f"{error.name} is not installed; install nuggetstream[postgres]") from error
