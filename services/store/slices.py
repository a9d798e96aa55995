"""Which battles of an arena count: by language, tags and time of receipt."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, func, select

from services.store.tables import battles


@dataclass(frozen=True, slots=True)
class Slice:
    """Some battles of an arena; without a condition, all of them.

    Attributes:
        language: exactly as the battle was sent with.
        tags: a battle has every one of them; a query's category is a tag such as "category:science".
        since: received then or later.
        until: received before then.
    """

    language: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None

    def conditions(self, *, sqlite: bool) -> list[ColumnElement[bool]]:
        """What the table of battles must say; empty when every battle counts.

        Args:
            sqlite: whether it is SQLite that will be asked; databases read JSON in their own ways.
        """
        found: list[ColumnElement[bool]] = []
        if self.language is not None:
            found.append(battles.c.language == self.language)
        found += [_has(tag, sqlite=sqlite) for tag in self.tags]
        if self.since is not None:
            found.append(battles.c.received_at >= self.since)
        if self.until is not None:
            found.append(battles.c.received_at < self.until)
        return found


EVERYTHING = Slice()


def _has(tag: str, *, sqlite: bool) -> ColumnElement[bool]:
    unfold = func.json_each if sqlite else func.json_array_elements_text
    each = unfold(battles.c.tags).table_valued("value")
    return select(each.c.value).where(each.c.value == tag).correlate(battles).exists()
