"""Slices: the battles of an arena with a language, with tags, or received in a period, or of one judge."""

from dataclasses import dataclass, replace
from datetime import datetime
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
from nuggetstream.domain.lens import JUDGED, Lens
from services.store.tables import battles

# Written like the condition of the index: PostgreSQL does not use it for `flagged IS true`, nor SQLite for
# `flagged = 1`, as SQLAlchemy writes conditions on the column.
FLAGGED: ColumnElement[bool] = literal_column("battles.flagged")


@dataclass(frozen=True, slots=True)
class Slice:
    """A filter of the battles of an arena; by default all battles.

    Attributes:
        language: Language tag, compared exactly.
        tags: Tags that a battle must all have; a query's category is a tag such as "category:science".
        since: Earliest time of receipt.
        until: Time of receipt before which a battle must have been received.
        evaluator: The judge whose verdicts count in the lenses with judges; None for those of all judges.
        expected: Whether outcomes count by their probabilities, where these are known.
        flagged: Whether battles with a flagged answer count.
    """

    language: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    evaluator: str | None = None
    expected: bool = False
    flagged: Flagged = Flagged.INCLUDE

    def of(self, *lenses: Lens) -> "Slice":
        """The slice as it concerns some lenses, or with no lens the battles.

        Only verdicts have a judge. Only outcomes of a single automatic lens count by their probabilities.
        """
        evaluator = None if set(JUDGED).isdisjoint(lenses) else self.evaluator
        expected = self.expected and len(lenses) == 1 and Lens.HUMAN not in lenses
        if (evaluator, expected) == (self.evaluator, self.expected):
            return self
        return replace(self, evaluator=evaluator, expected=expected)

    @property
    def discrete(self) -> "Slice":
        """The same battles, whose outcomes count as they are."""
        return replace(self, expected=False) if self.expected else self

    def having(self, flagged: Flagged) -> "Slice":
        """The slice with or without flagged battles."""
        return replace(self, flagged=flagged)

    def conditions(self, *, sqlite: bool) -> list[ColumnElement[bool]]:
        """The conditions on the table `battles`; none when all battles count, by whatever judge.

        Args:
            sqlite: Whether the query is for SQLite, whose JSON functions differ from PostgreSQL's.
        """
        conditions: list[ColumnElement[bool]] = []
        if self.language is not None:
            conditions.append(battles.c.language == self.language)
        conditions += [_has(tag, sqlite=sqlite) for tag in self.tags]
        if self.since is not None:
            conditions.append(battles.c.received_at >= self.since)
        if self.until is not None:
            conditions.append(battles.c.received_at < self.until)
        if self.flagged is not Flagged.INCLUDE:
            conditions.append(FLAGGED if self.flagged is Flagged.ONLY else not_(FLAGGED))
        return conditions


EVERYTHING = Slice()


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
