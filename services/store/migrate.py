"""Bring the database to the schema this version expects."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from services.store.database import Database

_MIGRATIONS = Path(__file__).parent / "migrations"


async def upgrade(database: Database, revision: str = "head") -> None:
    """Apply every migration up to a revision; running it again changes nothing."""
    async with database.engine.begin() as connection:
        await connection.run_sync(_run, command.upgrade, revision)


async def downgrade(database: Database, revision: str) -> None:
    """Reverse migrations down to a revision ("base" removes every table)."""
    async with database.engine.begin() as connection:
        await connection.run_sync(_run, command.downgrade, revision)


def config(connection: Connection) -> Config:
    """Alembic's configuration for one open connection."""
    settings = Config()
    settings.set_main_option("script_location", str(_MIGRATIONS))
    settings.attributes["connection"] = connection
    return settings


def _run(connection: Connection, verb: object, revision: str) -> None:
    verb(config(connection), revision)  # type: ignore[operator]
