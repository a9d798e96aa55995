"""The states of a battle's judges, where several are declared, and the judge branch that follows from them.

    a verdict, or a judge that gave up  ->  its row in `judge_states`  ->  `judge_state` of the battle

The branch ends once every declared judge has reported. A judge that was added later is waited for in battles
that still run, and a judge that is no longer declared is not.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import Connection, bindparam, delete, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain import event as events
from nuggetstream.domain.failure import Stage
from nuggetstream.domain.progress import Branch, branch_of
from services.store.database import Database
from services.store.progress import columns_ended_by
from services.store.tables import battles, judge_states

_STATES = select(judge_states).where(judge_states.c.battle_id.in_(bindparam("ids", expanding=True)))
_CHANGE = (
    update(judge_states)
    .where(judge_states.c.battle_id == bindparam("of_battle"), judge_states.c.evaluator == bindparam("judge"))
    .values(state=bindparam("new_state"))
)


class JudgeStates:
    """The states of the judges of some battles, in the transaction that records their events.

    Args:
        judges: Names of the declared judges; with fewer than two, nothing is read or written.
        connection: The transaction, in which the rows of the battles are locked.
        battle_ids: Ids of the battles.
    """

    def __init__(self, judges: Sequence[str], connection: Connection, battle_ids: Collection[str]) -> None:
        self._judges = tuple(judges) if len(judges) > 1 else ()
        self._connection = connection
        self._states: dict[str, dict[str, Branch]] = defaultdict(dict)
        self._stored: set[tuple[str, str]] = set()
        self._changed: set[tuple[str, str]] = set()
        if not self._judges:
            return
        for row in connection.execute(_STATES, {"ids": sorted(battle_ids)}):
            self._states[row.battle_id][row.evaluator] = Branch(row.state)
            self._stored.add((row.battle_id, row.evaluator))

    def branch_after(self, event: events.BattleEvent, now: Branch) -> Branch | None:
        """Note what an event says about a judge, and return the state of the judge branch.

        Args:
            event: The event.
            now: The state of the judge branch before.

        Returns:
            The new state; None where it does not depend on single judges, so that the event alone decides.
        """
        if not self._judges:
            return None
        battle_id = events.battle_id_of(event)
        if isinstance(event, events.BattleJudged) and not event.judgment.additional:
            self._note(battle_id, event.judgment.evaluator, Branch.DONE)
            return self._branch(battle_id, now)
        if not isinstance(event, events.BattleFailed):
            return None
        failure = event.failure
        if failure.stage is not Stage.JUDGE:
            return self._branch_that_ends(battle_id, now, failure.stage)
        # Without a name it is of a judge that is no longer declared; and no failure undoes a verdict.
        if failure.evaluator is not None and failure.evaluator not in self._states[battle_id]:
            self._note(battle_id, failure.evaluator, Branch.FAILED)
        return self._branch(battle_id, now)

    def write(self) -> None:
        """Write the states that have changed."""
        changed = [(*key, self._states[key[0]][key[1]].value) for key in sorted(self._changed)]
        new = [row for row in changed if row[:2] not in self._stored]
        known = [row for row in changed if row[:2] in self._stored]
        if new:
            columns = ("battle_id", "evaluator", "state")
            self._connection.execute(
                insert(judge_states), [dict(zip(columns, row, strict=True)) for row in new]
            )
        if known:
            names = ("of_battle", "judge", "new_state")
            self._connection.execute(_CHANGE, [dict(zip(names, row, strict=True)) for row in known])

    def _note(self, battle_id: str, evaluator: str, state: Branch) -> None:
        if self._states[battle_id].get(evaluator) is not state:
            self._states[battle_id][evaluator] = state
            self._changed.add((battle_id, evaluator))

    def _branch(self, battle_id: str, now: Branch) -> Branch:
        """The state of the branch; where it ended before, judges that did not report count as it ended."""
        missing = now if now in (Branch.PENDING, Branch.DONE) else Branch.FAILED
        return branch_of(self._states[battle_id].get(name, missing) for name in self._judges)

    def _branch_that_ends(self, battle_id: str, now: Branch, stage: Stage) -> Branch | None:
        if "judge_state" not in columns_ended_by(stage) or now is not Branch.PENDING:
            return None
        return self._branch(battle_id, Branch.FAILED)


async def settle(database: Database, judges: Sequence[str], battle_id: str, at: datetime) -> bool:
    """End the judge branch of a battle that only waits for judges that are no longer declared.

    Args:
        database: The database.
        judges: Names of the declared judges; none for a single judge of any name.
        battle_id: Id of the battle.
        at: The end of the battle, if its nugget branch has ended too.

    Returns:
        Whether the branch has ended.
    """
    async with database.transaction() as tx:
        query = select(judge_states.c.evaluator, judge_states.c.state)
        rows = await tx.execute(query.where(judge_states.c.battle_id == battle_id))
        states = {row.evaluator: Branch(row.state) for row in rows}
        awaited = [states.get(name) for name in judges or states]
        reported = [state for state in awaited if state is not None]
        if not reported or len(reported) < len(awaited):
            return False
        pending = (battles.c.id == battle_id, battles.c.judge_state == Branch.PENDING.value)
        result = await tx.execute(
            update(battles).where(*pending).values(judge_state=branch_of(reported).value)
        )
        await tx.execute(
            update(battles)
            .where(battles.c.id == battle_id, battles.c.ended_at.is_(None))
            .where(battles.c.nugget_state != Branch.PENDING, battles.c.judge_state != Branch.PENDING)
            .values(ended_at=at)
        )
        return bool(result.rowcount)


async def forget_failed_judges(tx: AsyncConnection, battle_id: str) -> None:
    """Remove the rows of judges that failed, because they run again."""
    of_battle = judge_states.c.battle_id == battle_id
    await tx.execute(delete(judge_states).where(of_battle, judge_states.c.state == Branch.FAILED.value))
