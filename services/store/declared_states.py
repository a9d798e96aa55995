"""The states of a battle's judges and nuggetizers, where several are declared, and the branches that follow.

    a verdict, or a judge that gave up     ->  its row in `judge_states`       ->  `judge_state` of the battle
    labels of a list, or a failure before  ->  its row in `nuggetizer_states`  ->  `nugget_state`

A branch ends once every declared one has reported. One that was added later is waited for in battles that
still run, and one that is no longer declared is not.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain import event as events
from nuggetstream.domain.failure import Stage
from nuggetstream.domain.progress import Branch, branch_of
from services.store.database import Database
from services.store.nuggetizer_tables import nuggetizer_states
from services.store.progress import columns_ended_by
from services.store.tables import battles, judge_states


@dataclass(frozen=True, slots=True)
class Branching:
    """A branch of which each battle can have several.

    Attributes:
        column: Column of the battle's branch.
        table: The rows, one per battle and name.
        stages: The stages whose failures name one of them.
        has_first: Whether a report without a name is of the first: it was made while there was a single one,
            whose place the first has taken.
    """

    column: str
    table: Table
    stages: Collection[Stage]
    has_first: bool

    def done_by(self, event: events.BattleEvent) -> tuple[str | None] | None:
        """Whose result an event is, as a tuple of one name; None where it is no result of this branch."""
        if self is JUDGING and isinstance(event, events.BattleJudged) and not event.judgment.additional:
            return (event.judgment.evaluator,)
        if self is LISTING and isinstance(event, events.BattleAssigned):
            return (event.nugget_list.nuggetizer,)
        return None


JUDGING = Branching("judge_state", judge_states, (Stage.JUDGE,), has_first=False)
LISTING = Branching("nugget_state", nuggetizer_states, (Stage.NUGGETIZER, Stage.ASSIGNER), has_first=True)
Names = Mapping[str, Sequence[str]]  # of the declared judges and nuggetizers, by column of their branch


def several(names: Names, connection: Connection, battle_ids: Collection[str]) -> "list[DeclaredStates]":
    """The states of battles in the branches of which several are declared."""
    declared = [(branching, tuple(names.get(branching.column, ()))) for branching in (JUDGING, LISTING)]
    return [
        DeclaredStates(branching, of_branch, connection, battle_ids)
        for branching, of_branch in declared
        if len(of_branch) > 1
    ]


class DeclaredStates:
    """The states of the judges, or nuggetizers, of some battles while their events are recorded.

    Args:
        branching: Which branch.
        names: Names of the declared ones, two or more.
        connection: The transaction, in which the rows of the battles are locked.
        battle_ids: Ids of the battles.
    """

    def __init__(
        self, branching: Branching, names: Sequence[str], connection: Connection, battle_ids: Collection[str]
    ) -> None:
        self.column = branching.column
        self._branching, self._names, self._connection = branching, tuple(names), connection
        self._states: dict[str, dict[str, Branch]] = defaultdict(dict)
        self._stored: set[tuple[str, str]] = set()
        self._changed: set[tuple[str, str]] = set()
        table = branching.table
        query = select(table).where(table.c.battle_id.in_(bindparam("ids", expanding=True)))
        for row in connection.execute(query, {"ids": sorted(battle_ids)}):
            self._states[row.battle_id][row.evaluator] = Branch(row.state)
            self._stored.add((row.battle_id, row.evaluator))

    def branch_after(self, event: events.BattleEvent, now: Branch) -> Branch | None:
        """Note what an event says about one of them, and return the state of the branch.

        Args:
            event: The event.
            now: The state of the branch before.

        Returns:
            The new state; None where it does not depend on single ones, so that the event alone decides.
        """
        battle_id = events.battle_id_of(event)
        if (done := self._branching.done_by(event)) is not None:
            self._note(battle_id, self._named(done[0]), Branch.DONE)
            return self._branch(battle_id, now)
        if not isinstance(event, events.BattleFailed):
            return None
        failure = event.failure
        if failure.stage not in self._branching.stages:
            return self._branch_that_ends(battle_id, now, failure.stage)
        # Without a name it is of one that is no longer declared; and no failure undoes a result.
        name = self._named(failure.evaluator)
        if name is not None and self._states[battle_id].get(name, Branch.PENDING) is Branch.PENDING:
            self._note(battle_id, name, Branch.FAILED)
        return self._branch(battle_id, now)

    def write(self) -> None:
        """Write the states that have changed."""
        table = self._branching.table
        changed = [(*key, self._states[key[0]][key[1]].value) for key in sorted(self._changed)]
        new = [row for row in changed if row[:2] not in self._stored]
        known = [row for row in changed if row[:2] in self._stored]
        if new:
            columns = ("battle_id", "evaluator", "state")
            self._connection.execute(insert(table), _rows(new, columns))
        if known:
            of_one = (table.c.battle_id == bindparam("of"), table.c.evaluator == bindparam("by"))
            change = update(table).where(*of_one).values(state=bindparam("now"))
            self._connection.execute(change, _rows(known, ("of", "by", "now")))

    def _named(self, name: str | None) -> str | None:
        return self._names[0] if name is None and self._branching.has_first else name

    def _note(self, battle_id: str, name: str | None, state: Branch) -> None:
        if name is not None and self._states[battle_id].get(name) is not state:
            self._states[battle_id][name] = state
            self._changed.add((battle_id, name))

    def _branch(self, battle_id: str, now: Branch) -> Branch:
        """The state of the branch; where it ended before, those that did not report count as it ended."""
        missing = now if now in (Branch.PENDING, Branch.DONE) else Branch.FAILED
        return branch_of(self._states[battle_id].get(name, missing) for name in self._names)

    def _branch_that_ends(self, battle_id: str, now: Branch, stage: Stage) -> Branch | None:
        if self.column not in columns_ended_by(stage) or now is not Branch.PENDING:
            return None
        return self._branch(battle_id, Branch.FAILED)


async def settle(database: Database, names: Names, battle_id: str, at: datetime) -> bool:
    """End the branches of a battle that only wait for judges or nuggetizers that are no longer declared.

    Args:
        database: The database.
        names: Names of the declared ones; none where there is a single one of any name.
        battle_id: Id of the battle.
        at: The end of the battle, if both branches have ended.

    Returns:
        Whether a branch has ended.
    """
    async with database.transaction() as tx:
        both = [(branching, names.get(branching.column, ())) for branching in (JUDGING, LISTING)]
        settled = [await _settle(tx, *each, battle_id) for each in both]
        if any(settled):
            await tx.execute(
                update(battles)
                .where(battles.c.id == battle_id, battles.c.ended_at.is_(None))
                .where(battles.c.nugget_state != Branch.PENDING, battles.c.judge_state != Branch.PENDING)
                .values(ended_at=at)
            )
        return any(settled)


async def _settle(tx: AsyncConnection, branching: Branching, names: Sequence[str], battle_id: str) -> bool:
    table, column = branching.table, battles.c[branching.column]
    query = select(table.c.evaluator, table.c.state).where(table.c.battle_id == battle_id)
    states = {row.evaluator: Branch(row.state) for row in await tx.execute(query)}
    awaited = [states.get(name, Branch.PENDING) for name in names or states]
    if not awaited or Branch.PENDING in awaited:
        return False
    pending = (battles.c.id == battle_id, column == Branch.PENDING.value)
    changed = update(battles).where(*pending).values({branching.column: branch_of(awaited).value})
    return bool((await tx.execute(changed)).rowcount)


async def forget_failed(tx: AsyncConnection, battle_id: str) -> None:
    """Remove the rows of judges and nuggetizers that failed, because they run again."""
    for branching in (JUDGING, LISTING):
        table = branching.table
        failed = (table.c.battle_id == battle_id, table.c.state == Branch.FAILED.value)
        await tx.execute(delete(table).where(*failed))


def wait_for_labels(connection: Connection, battle_id: str, nuggetizer: str | None) -> None:
    """Note that the list of a nuggetizer was edited, and is without labels until they arrive."""
    table = nuggetizer_states
    of_one = (table.c.battle_id == battle_id, table.c.evaluator == nuggetizer)
    connection.execute(update(table).where(*of_one).values(state=Branch.PENDING.value))


def _rows(rows: Iterable[tuple[str, ...]], names: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [dict(zip(names, row, strict=True)) for row in rows]
