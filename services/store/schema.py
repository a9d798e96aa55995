"""What all tables share: the registry with the names of constraints, and indexes over a part of the rows."""

from typing import Any

from sqlalchemy import Column, Index, Integer, MetaData, SmallInteger, String, text

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def index_where(condition: str, name: str, *columns: str) -> Index:
    """An index that contains only the rows with a condition."""
    return Index(name, *columns, postgresql_where=text(condition), sqlite_where=text(condition))


def origin_columns() -> list[Column[Any]]:
    """The columns that tell where an outcome comes from; see `Outcome`."""
    return [
        Column("list_version", Integer),
        Column("event_key", String(8)),
        Column("judge_model", String(200)),
        Column("favoured", SmallInteger),
        Column("longer", SmallInteger),
    ]
