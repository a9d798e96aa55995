"""Storing outcomes and counting them, several in one transaction.

    outcomes ─> what was stored before? ─> write the newer ones, and add the differences

A transaction executes the same few statements however many outcomes it stores.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection, bindparam, delete, select

from nuggetstream.domain.lens import Lens
from services.store.batches import among, rows_of_keys
from services.store.database import replacing
from services.store.outcomes.counters import Changes, add_changes, contributions, difference, merged
from services.store.outcomes.doubts import update_doubts
from services.store.outcomes.facets import ALL, Facet, facets_of_battle
from services.store.outcomes.outcome import Outcome, outcome_of_row, row_of_outcome
from services.store.tables import battles, outcomes

_NONE: Mapping[str, int] = {}
_STORED = select(outcomes).where(among(outcomes.c.battle_id))
_BY_NUGGETS = (Lens.NUGGET.value, Lens.GROUNDED.value)
_REMOVE = delete(outcomes).where(
    outcomes.c.battle_id == bindparam("battle"), outcomes.c.source == bindparam("of")
)
_FACETS = select(battles.c.id, battles.c.language, battles.c.tags, battles.c.received_at).where(
    among(battles.c.id)
)


def put_all(connection: Connection, new: Sequence[Outcome], labelled: Mapping[str, int] = _NONE) -> None:
    """Store outcomes, each unless a newer one of the same source is stored, and change the counters.

    A preference by nuggets ends with the labels that it rests on: newer ones may decide nothing.

    Args:
        connection: Connection in a transaction that has locked the rows of the battles; in SQLite one that
            may write.
        new: The outcomes, in order.
        labelled: Newest version of the nugget list that has new labels, by battle.
    """
    stated = {(outcome.battle_id, outcome.source) for outcome in new}
    ids = sorted({battle_id for battle_id, _ in stated} | labelled.keys())
    if not ids:
        return
    before = outcomes_by_battle(connection, ids)
    after = {battle_id: dict(before.get(battle_id, {})) for battle_id in ids}
    newest: dict[tuple[str, str], Outcome] = {}
    for outcome in new:
        current = after[outcome.battle_id].get(outcome.source)
        if current is None or (current != outcome and current.rank <= outcome.rank):
            after[outcome.battle_id][outcome.source] = outcome
            newest[outcome.battle_id, outcome.source] = outcome
    for battle_id, stored in after.items():
        now = {source for of, source in stated if of == battle_id}
        for source in _outdated(stored, labelled.get(battle_id, 0), now):
            del stored[source]
            newest.pop((battle_id, source), None)
            connection.execute(_REMOVE, {"battle": battle_id, "of": source})
    if all(stored == before.get(battle_id, {}) for battle_id, stored in after.items()):
        return
    if newest:
        new_rows = [row_of_outcome(newest[key]) for key in sorted(newest)]
        connection.execute(replacing(connection.dialect.name, outcomes), new_rows)
    update_doubts(connection, before, after)
    rows = rows_of_keys(connection, _FACETS, ids)
    facets = {row.id: facets_of_battle(row.language, row.tags, row.received_at) for row in rows}
    changes = [
        _changes(after[battle_id], before.get(battle_id, {}), facets.get(battle_id, [ALL]))
        for battle_id in ids
    ]
    add_changes(connection, merged(changes))


def _outdated(stored: Mapping[str, Outcome], labelled: int, stated: Collection[str]) -> list[str]:
    """The preferences by nuggets that rest on an older list, or that the new labels do not state."""
    versions = {source: stored[source].list_version or 1 for source in _BY_NUGGETS if source in stored}
    newest = max(labelled, *versions.values(), 1)
    return [
        source
        for source, version in versions.items()
        if version < newest or (version == labelled and source not in stated)
    ]


def outcomes_by_battle(connection: Connection, ids: Sequence[str]) -> dict[str, dict[str, Outcome]]:
    """The stored outcomes of the given battles that have any, by battle and source."""
    by_battle: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for row in rows_of_keys(connection, _STORED, ids):
        by_battle[row.battle_id][row.source] = outcome_of_row(row)
    return by_battle


def _changes(after: dict[str, Outcome], before: dict[str, Outcome], facets: Sequence[Facet]) -> Changes:
    """What the outcomes of one battle change; nothing where only their times differ."""
    same = after.keys() == before.keys() and all(
        replace(before[source], decided_at=outcome.decided_at) == outcome for source, outcome in after.items()
    )
    if same:
        return {}
    return difference(contributions(after.values(), facets), contributions(before.values(), facets))
