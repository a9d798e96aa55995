"""Counters of outcomes: what an outcome adds to them, and how that is written.

    outcomes of a battle before, outcomes after  ->  changes of counters  ->  one statement per table

Changes are increments, so that transactions lock nothing but the rows that they change. Rows are always
written in the same order, those that many transactions change last; so transactions cannot deadlock, and the
rows that all outcomes of an arena change are locked only shortly.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import combinations
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete

from nuggetstream.domain.lens import Lens, evaluator_of
from services.store.database import insert_into
from services.store.outcomes.consensus import common_outcomes
from services.store.outcomes.facets import ALL, EVALUATOR, Facet
from services.store.outcomes.judge_biases import judge_cells, judge_counters
from services.store.outcomes.outcome import Outcome
from services.store.tables import (
    JOINT_COLUMNS,
    joint_counters,
    lens_counters,
    metadata,
    pair_counters,
)

Key = tuple[Any, ...]
_Changing = dict[str, dict[Key, Counter[str]]]
Changes = Mapping[str, Mapping[Key, Counter[str]]]  # by name of the table, key of the row, and column

LENS_PAIRS = ((Lens.HUMAN, Lens.NUGGET), (Lens.HUMAN, Lens.JUDGE), (Lens.NUGGET, Lens.JUDGE))
_STAMPS = 2**62


def contributions(outcomes: Iterable[Outcome], facets: Sequence[Facet]) -> Changes:
    """What the outcomes of one battle add to each counter.

    Outcomes of a system against itself count as outcomes and say nothing else. Per pair of systems a battle
    counts once, with the common outcome of its judges, and in the facet of a judge with that judge's outcome.

    Args:
        outcomes: All outcomes of the battle.
        facets: The facets to count for.
    """
    changes: _Changing = defaultdict(lambda: defaultdict(Counter))
    by_arena: dict[str, dict[Lens, list[Outcome]]] = defaultdict(lambda: defaultdict(list))
    stored = list(outcomes)
    for outcome in stored:
        _count_source(changes, outcome, facets)
        if outcome.system_a != outcome.system_b:
            by_arena[outcome.arena][outcome.lens].append(outcome)
    for outcome in common_outcomes(stored):
        _count_pair(changes, outcome, facets)
    for key, cells in judge_cells(stored) if ALL in facets else ():
        changes["judge_counters"][key].update(cells)
    for arena, by_lens in by_arena.items():
        for lens in by_lens:
            for facet in facets:
                changes["lens_counters"][arena, lens.value, *facet]["decided"] += 1
        if ALL in facets:
            _joint(changes["joint_counters"], arena, by_lens)
    return changes


def _count_source(changes: _Changing, outcome: Outcome, facets: Sequence[Facet]) -> None:
    """Count an outcome among those of its source, and for the board of its judge."""
    of_judge = _of_judge(outcome, facets)  # a battle has one outcome per judge
    for facet in (*facets, *of_judge):
        changes["lens_counters"][outcome.arena, outcome.lens.value, *facet]["outcomes"] += 1
    _count_pair(changes, outcome, of_judge)
    if outcome.system_a != outcome.system_b:
        for facet in of_judge:
            changes["lens_counters"][outcome.arena, outcome.lens.value, *facet]["decided"] += 1


def _count_pair(changes: _Changing, outcome: Outcome, facets: Iterable[Facet]) -> None:
    """Count an outcome for its pair of systems."""
    if outcome.system_a == outcome.system_b:
        return
    cells = _cells(outcome)
    for facet in facets:
        facet_key = (outcome.arena, outcome.lens.value, *facet)
        changes["lens_counters"][facet_key]["probable"] += int(outcome.probabilities is not None)
        changes["pair_counters"][*facet_key, outcome.system_a, outcome.system_b].update(cells)


def _cells(outcome: Outcome) -> dict[str, int]:
    """What an outcome adds to the counter of its pair of systems."""
    if outcome.probabilities is None:
        return {outcome.winner.value: 1}
    shift_a, shift_b = outcome.probabilities.shift(outcome.winner)
    return {outcome.winner.value: 1, "shift_a": shift_a, "shift_b": shift_b}


def _of_judge(outcome: Outcome, facets: Sequence[Facet]) -> list[Facet]:
    """The facet of the judge of an outcome, which is counted with all battles."""
    evaluator = evaluator_of(outcome.source) if ALL in facets else None
    return [] if evaluator is None else [Facet(EVALUATOR, evaluator)]


def _joint(changes: dict[Key, Counter[str]], arena: str, by_lens: Mapping[Lens, Sequence[Outcome]]) -> None:
    """Outcomes of each two lenses, and those of each two judges that both have one."""
    for two in combinations(sorted(by_lens.get(Lens.JUDGE, ()), key=attrgetter("source")), 2):
        names, pairs = zip(
            *((stated.source, (stated.system_a, stated.system_b)) for stated in two), strict=True
        )
        if pairs[0] == pairs[1]:
            column = JOINT_COLUMNS[two[0].winner.value, two[1].winner.value]
            changes[arena, *names, *pairs[0]][column] += 1
    chosen = {lens: min(stated, key=lambda outcome: outcome.source) for lens, stated in by_lens.items()}
    for lenses in LENS_PAIRS:
        winners: dict[tuple[str, str], dict[Lens, str]] = defaultdict(dict)
        for lens in lenses:
            if (outcome := chosen.get(lens)) is not None:
                winners[outcome.system_a, outcome.system_b][lens] = outcome.winner.value
        for pair, stated in winners.items():
            column = JOINT_COLUMNS[stated.get(lenses[0]), stated.get(lenses[1])]
            changes[arena, lenses[0].value, lenses[1].value, *pair][column] += 1


def merged(changes: Iterable[Changes]) -> Changes:
    """The sum of several changes; only rows of which something changes, or whose stamp must."""
    total: dict[str, dict[Key, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for change in changes:
        for table, rows in change.items():
            for key, columns in rows.items():
                total[table][key].update(columns)
    return total


def difference(after: Changes, before: Changes) -> Changes:
    """What must be added to counters that say `before`, so that they say `after`; only rows with a change."""
    changes: dict[str, dict[Key, Counter[str]]] = {}
    for table in after.keys() | before.keys():
        rows: dict[Key, Counter[str]] = defaultdict(Counter)
        for key, columns in after.get(table, {}).items():
            rows[key].update(columns)
        for key, columns in before.get(table, {}).items():
            rows[key].subtract(columns)
        changes[table] = {key: columns for key, columns in rows.items() if any(columns.values())}
    return changes


def add_changes(connection: Connection, changes: Changes) -> None:
    """Add changes to the counters in the transaction of the rows that changed.

    Every lens and facet with a change gets a new stamp, also where its numbers of outcomes stay the same
    because an outcome only has another winner.
    """
    pairs, lenses = changes.get("pair_counters", {}), dict(changes.get("lens_counters", {}))
    for arena, lens, kind, value, *_ in pairs:
        lenses.setdefault((arena, lens, kind, value), Counter())
    increment(connection, pair_counters, pairs)
    increment(connection, joint_counters, changes.get("joint_counters", {}))
    increment(connection, judge_counters, changes.get("judge_counters", {}))
    increment(connection, lens_counters, lenses)


def increment(connection: Connection, table: Table, changes: Mapping[Key, Mapping[str, int]]) -> None:
    """Add to the rows of a table of counters; a row that does not exist is created."""
    if not changes:
        return
    keys = [column.name for column in table.primary_key]
    rows = [
        dict(zip(keys, key, strict=True))
        | {
            column.name: changes[key].get(column.name, 0) if column.name != "stamp" else new_stamp()
            for column in table.columns
            if not column.primary_key
        }
        for key in sorted(changes)
    ]
    connection.execute(adding(connection.dialect.name, table), rows)


def remove_empty(connection: Connection, changes: Changes) -> None:
    """Remove the rows with these keys whose numbers are all zero, since a key can name a tag or a system."""
    for name, rows in changes.items():
        table = metadata.tables[name]
        keys = [column.name for column in table.primary_key]
        numbers = [c for c in table.columns if c.name not in keys and c.name != "stamp"]
        matches = [table.c[key] == bindparam(f"of_{key}") for key in keys]
        statement = delete(table).where(*matches, *(number == 0 for number in numbers))
        parameters = [dict(zip((f"of_{key}" for key in keys), row, strict=True)) for row in sorted(rows)]
        if parameters:
            connection.execute(statement, parameters)


@cache
def adding(dialect: str, table: Table) -> Any:
    """An INSERT that adds its numbers to the row with the same key, and replaces its stamp."""
    statement = insert_into(dialect, table)
    keys = [column.name for column in table.primary_key]
    new = {
        column.name: statement.excluded[column.name]
        if column.name == "stamp"
        else column + statement.excluded[column.name]
        for column in table.columns
        if column.name not in keys
    }
    return statement.on_conflict_do_update(index_elements=keys, set_=new)


def new_stamp() -> int:
    """A random number that marks a state of the counters of a lens and facet."""
    return random.randrange(_STAMPS)  # noqa: S311 - it is compared, not kept secret
