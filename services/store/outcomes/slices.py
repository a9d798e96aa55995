"""Slices: the battles of an arena with a language, with tags, or received in a period, or of one judge."""

from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Index,
    TableValuedAlias,
    cast,
    func,
    literal_column,
    not_,
    select,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.slice import Slice
from services.store.tables import battles

# Written like the condition of the index: PostgreSQL does not use it for `flagged IS true`, nor SQLite for
# `flagged = 1`, as SQLAlchemy writes conditions on the column.
FLAGGED: ColumnElement[bool] = literal_column("battles.flagged")


def conditions_of(selection: Slice, *, sqlite: bool) -> list[ColumnElement[bool]]:
    """The conditions on the table `battles`; none when all battles count, by whatever judge.

    Args:
        selection: The filter.
        sqlite: Whether the query is for SQLite, whose JSON functions differ from PostgreSQL's.
    """
    required: list[ColumnElement[bool]] = []
    if selection.language is not None:
        required.append(battles.c.language == selection.language)
    required += [_has(tag, sqlite=sqlite) for tag in selection.tags]
    if selection.since is not None:
        required.append(battles.c.received_at >= selection.since)
    if selection.until is not None:
        required.append(battles.c.received_at < selection.until)
    if selection.flagged is not Flagged.INCLUDE:
        required.append(FLAGGED if selection.flagged is Flagged.ONLY else not_(FLAGGED))
    return required


_INDEXED = text("flagged")
Index(
    "ix_battles_flagged",
    battles.c.arena,
    battles.c.received_at,
    postgresql_where=_INDEXED,
    sqlite_where=_INDEXED,
)

_TAGS = cast(battles.c.tags, JSONB)
# On PostgreSQL only: finds the battles with a tag, for slices of several conditions, which have no counters.
Index(
    "ix_battles_tags",
    _TAGS.label("tags"),
    postgresql_using="gin",
    postgresql_ops={"tags": "jsonb_path_ops"},
).ddl_if(dialect="postgresql")


def _has(tag: str, *, sqlite: bool) -> ColumnElement[bool]:
    if not sqlite:
        return _TAGS.contains([tag])
    tags = unfolded(battles.c.tags, sqlite=sqlite)
    return select(tags.c.value).where(tags.c.value == tag).correlate(battles).exists()


def unfolded(tags: Column[Any], *, sqlite: bool) -> TableValuedAlias:
    """The tags of a battle as a table with one column, `value`."""
    function = func.json_each if sqlite else func.json_array_elements_text
    return function(tags).table_valued("value")
