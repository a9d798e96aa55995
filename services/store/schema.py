"""What all tables share: the registry with the names of constraints, and what only PostgreSQL has."""

from sqlalchemy import DDL, Index, MetaData, Table, event, text

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
