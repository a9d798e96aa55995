"""What all tables share: the registry with the names of constraints, and what only PostgreSQL has."""

from typing import Any

from sqlalchemy import DDL, Column, Index, Integer, MetaData, SmallInteger, String, Table, event, text

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


def on_postgresql(table: Table, statement: str) -> None:
    """Execute a statement after a table was created in PostgreSQL; `%(table)s` stands for its name."""
    ddl = DDL(statement).execute_if(dialect="postgresql")  # type: ignore[no-untyped-call]
    event.listen(table, "after_create", ddl)


def not_logged(table: Table) -> None:
    """Let PostgreSQL write no log of a table, whose rows may be lost when its host fails."""
    on_postgresql(table, "ALTER TABLE %(table)s SET UNLOGGED")


def origin_columns() -> list[Column[Any]]:
    """The columns that tell where an outcome comes from; see `Outcome`."""
    return [
        Column("list_version", Integer),
        Column("judge_model", String(200)),
        Column("favoured", SmallInteger),
        Column("longer", SmallInteger),
    ]
