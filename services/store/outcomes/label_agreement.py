"""Labels of second assigners, counted as battles arrive.

BattleGraded with pairs of labels  ->  the row of its battle, and the counter of its arena and model
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, delete, insert, literal, select
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.event import BattleEvent, BattleGraded
from nuggetstream.nuggets.label_agreement import LabelPair, pairs_of
from services.store.database import Store
from services.store.outcomes.counters import Key, increment, remove_empty
from services.store.outcomes.label_tables import LABEL_COLUMNS, LONGEST_MODEL, label_counters, label_pairs

_NUMBERS = [*LABEL_COLUMNS.values()]
_STORED = select(label_pairs).where(label_pairs.c.battle_id.in_(bindparam("ids", expanding=True)))
_OLD = delete(label_pairs).where(
    label_pairs.c.battle_id == bindparam("of"), label_pairs.c.evaluator == bindparam("by")
)


@dataclass(frozen=True, slots=True)
class CountedLabels:
    """The labels of one second assigner in one arena.

    Attributes:
        arena: The arena.
        evaluator: Name of the evaluator.
        model: Its model.
        battles: Number of battles.
        counts: Number of labels per pair: that of the first assigner, then its own.
    """

    arena: str
    evaluator: str
    model: str
    battles: int
    counts: Counter[LabelPair]


class LabelCounts(Store):
    """The counters of labels."""

    async def of_arena(self, arena: str) -> list[CountedLabels]:
        """The second assigners of an arena, by name and model.

        Raises:
            Unavailable: The database does not answer.
        """
        columns = label_counters.c
        counted = select(label_counters).where(columns.arena == arena, columns.battles > 0)
        rows = await self._database.rows(counted.order_by(columns.evaluator, columns.model))
        return [_counted(row) for row in rows]


def _counted(row: Row[Any]) -> CountedLabels:
    counts = Counter({pair: int(getattr(row, name)) for pair, name in LABEL_COLUMNS.items()})
    return CountedLabels(row.arena, row.evaluator, row.model, row.battles, counts)


def note_labels(connection: Connection, happened: Iterable[BattleEvent]) -> None:
    """Store and count the pairs of labels in events; the newest grades of a battle and evaluator count.

    Grades about an older nugget list than those that are stored came late, and count nothing.

    Args:
        connection: The transaction, in which the rows of the battles are locked.
        happened: Events in the order in which they are recorded.
    """
    new: dict[tuple[str, str], dict[str, Any]] = {}
    for event in happened:
        for row in _rows(event) if isinstance(event, BattleGraded) else ():
            if not _is_older(row, new.get(key := (row["battle_id"], row["evaluator"]))):
                new[key] = row
    if not new:
        return
    ids = sorted({battle_id for battle_id, _ in new})
    replaced = []
    for stored in connection.execute(_STORED, {"ids": ids}).mappings().all():
        key = (stored["battle_id"], stored["evaluator"])
        if _is_older(new.get(key), stored):
            del new[key]
        elif key in new:
            replaced.append(dict(stored))
    if replaced:
        connection.execute(_OLD, [{"of": row["battle_id"], "by": row["evaluator"]} for row in replaced])
    if new:
        connection.execute(insert(label_pairs), [new[key] for key in sorted(new)])
        increment(connection, label_counters, _changes(list(new.values()), replaced))


def _rows(event: BattleGraded) -> Iterator[dict[str, Any]]:
    """The pairs of labels of a second assigner; of a panel those of the panel and of each member."""
    for name, model, grades in event.grading.by_grader():
        if pairs := pairs_of(grades):
            yield {
                "battle_id": event.battle_id,
                "evaluator": name,
                "arena": event.arena,
                "model": model[:LONGEST_MODEL],  # a panel names the models of all its members
                "nugget_version": event.grading.list_version,
                **{column: pairs[pair] for pair, column in LABEL_COLUMNS.items()},
            }


def _is_older(row: Mapping[Any, Any] | None, other: Mapping[Any, Any] | None) -> bool:
    """Whether one row is about an older nugget list than another one."""
    if row is None or other is None:
        return False
    return (row["nugget_version"] or 1) < (other["nugget_version"] or 1)


async def forget_labels(tx: AsyncConnection, battle_id: str) -> None:
    """Delete and subtract the labels of a battle that is deleted."""
    rows = (await tx.execute(_STORED, {"ids": [battle_id]})).mappings().all()
    await tx.execute(delete(label_pairs).where(label_pairs.c.battle_id == battle_id))
    changes = _changes([], [dict(row) for row in rows])
    await tx.run_sync(increment, label_counters, changes)
    await tx.run_sync(remove_empty, {label_counters.name: changes})


def _changes(added: Sequence[dict[str, Any]], removed: Sequence[dict[str, Any]]) -> dict[Key, Counter[str]]:
    changes: dict[Key, Counter[str]] = defaultdict(Counter)
    for sign, rows in ((1, added), (-1, removed)):
        for row in rows:
            counts = changes[row["arena"], row["evaluator"], row["model"]]
            for name in _NUMBERS:
                counts[name] += sign * row[name]
            counts["battles"] += sign
    return changes


def counted_labels(*, sqlite: bool) -> Select[Any]:  # noqa: ARG001 - the same query on both
    """A row per battle and evaluator, from which the counters follow; to check them against."""
    columns = label_pairs.c
    keys = (columns.arena, columns.evaluator, columns.model)
    return select(*keys, literal(1).label("battles"), *(columns[name] for name in _NUMBERS))
