"""What all tables share: the registry with the names of constraints, and indexes over a part of the rows."""

from typing import Any

from sqlalchemy import Column, Index, MetaData, SmallInteger, String, text

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


def judge_columns() -> list[Column[Any]]:
    """The columns of an outcome that only a judge has; see `Outcome`."""
    return [
        Column("judge_model", String(200)),
        Column("favoured", SmallInteger),
        Column("longer", SmallInteger),
    ]
