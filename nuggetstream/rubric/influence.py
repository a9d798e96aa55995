"""How much each question matters: what leaving it out changes in the order and the cover of systems."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table
from nuggetstream.rubric.cover import QueryCover
from nuggetstream.statistics.ranks import kendall


@dataclass(frozen=True, slots=True)
class ItemInfluence:
    """What leaving one item out changes.

    Attributes:
        query: Query of the item.
        item: The item.
        kendall: Kendall's tau-b of the orders of systems by mean cover with and without the item, in [-1, 1];
            None where either has no order.
        change: The largest change of a system's mean cover, without the item minus with it; None where no
            other item is left.
        system: The system whose mean changes so; the better one of several.
    """

    query: str
    item: str
    kendall: float | None
    change: float | None
    system: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Influence(Drawn):
    """What leaving out each item alone changes.

    Attributes:
        k: Depth of the top.
        items: The most influential first: by Kendall's tau, then by the size of the largest change.
        queries: Number of queries with a graded item.
        systems: Number of systems.
        only_items: Number of items that are the only one of their query; it is left out with them.
    """

    k: int
    items: tuple[ItemInfluence, ...]
    queries: int
    systems: int
    only_items: int

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> Table:
        """One row per item, the most influential first."""
        columns = (
            tables.text("query"),
            tables.text("item"),
            tables.number("kendall", "Kendall's tau", digits=3),
            tables.number("change", "largest change", digits=4),
            tables.text("system"),
        )
        rows = tuple((row.query, row.item, row.kendall, row.change, row.system) for row in self.items)
        items, queries = many(len(self.items), "item"), many(self.queries, "query", "queries")
        basis = f"{items} of {queries}, {many(self.systems, 'system')}"
        meaning = (
            "tau: of the orders with and without the item; change: of a system's mean, without minus with it"
        )
        notes = (basis, meaning, *(note.text for note in self.notes))
        return Table(f"Cover@{self.k} without one item", columns, rows, notes)


def leave_each_out(
    items: Mapping[str, Sequence[str]], covers: Mapping[str, Mapping[str, QueryCover]], k: int
) -> Influence:
    """Leave out each item alone, and compare the mean covers of all systems with those of all items.

    A query whose only item is left out is left out with it.

    Args:
        items: Query -> all its graded items, at least one.
        covers: System -> query -> its cover, the best system first.
        k: Depth of the top.
    """
    totals = {
        system: sum(
            (Fraction(of_query.answered, of_query.items) for of_query in queries.values()), Fraction()
        )
        for system, queries in covers.items()
    }
    before = {system: total / len(items) for system, total in totals.items()}
    rows = []
    for query, names in items.items():
        kept, queries = len(names) - 1, len(items) - (len(names) == 1)
        for item in names:
            if not queries:
                rows.append(ItemInfluence(query, item, None, None, None))
                continue
            after = {}
            for system, total in totals.items():
                cover = covers[system][query]
                answered = cover.answered - (item in cover.answered_items)
                rest = Fraction(answered, kept) if kept else Fraction()
                after[system] = (total - Fraction(cover.answered, cover.items) + rest) / queries
            rows.append(_influence(query, item, before, after))
    rows.sort(key=_rank)
    return Influence(
        k=k,
        items=tuple(rows),
        queries=len(items),
        systems=len(covers),
        only_items=sum(len(names) == 1 for names in items.values()),
    )


def _influence(
    query: str, item: str, before: Mapping[str, Fraction], after: Mapping[str, Fraction]
) -> ItemInfluence:
    changes = {system: float(after[system] - mean) for system, mean in before.items()}
    most = max(changes, key=lambda system: abs(changes[system]), default=None)
    tau = kendall([float(mean) for mean in before.values()], [float(mean) for mean in after.values()])
    change = None if most is None else changes[most]
    return ItemInfluence(query, item, None if tau is None else tau.coefficient, change, most)


def _rank(row: ItemInfluence) -> tuple[float, float]:
    """Items without which systems have no order come first."""
    return (-2.0 if row.kendall is None else round(row.kendall, 12), -abs(row.change or 0.0))


def _notes(influence: Influence) -> Iterator[Note]:
    if influence.only_items:
        items = many(influence.only_items, "item")
        yield Note("only_item", f"{items} that are the only one of a query: the query is left out with it")
    if unordered := sum(row.kendall is None for row in influence.items):
        items = many(unordered, "item")
        yield Note("no_order", f"{items} without a tau: fewer than two systems, or all have the same mean")
