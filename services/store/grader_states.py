"""Whether each evaluator has graded or judged a battle: that makes its earlier failures good.

BattleGraded, BattleJudged of an additional judge, BattleFailed of either  ->  its row in `grader_states`
"""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, bindparam, insert, select, update

from nuggetstream.domain import event as events
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.progress import Branch
from services.store.tables import grader_states

_Key = tuple[str, str]
_COLUMNS = ("battle_id", "evaluator", "state")
_STORED = select(grader_states).where(grader_states.c.battle_id.in_(bindparam("ids", expanding=True)))
_CHANGE = (
    update(grader_states)
    .where(grader_states.c.battle_id == bindparam("of"), grader_states.c.evaluator == bindparam("by"))
    .values(state=bindparam("now"))
)


def note_graders(connection: Connection, happened: Iterable[events.BattleEvent]) -> None:
    """Store what events say about evaluators; without such an event nothing is read or written.

    Args:
        connection: The transaction, in which the rows of the battles are locked.
        happened: Events in the order in which they are recorded.
    """
    new: dict[_Key, Branch] = {}
    for key, state in filter(None, map(_state_in, happened)):
        if new.get(key) is not Branch.DONE:  # no failure undoes grades
            new[key] = state
    if not new:
        return
    rows = connection.execute(_STORED, {"ids": sorted({battle_id for battle_id, _ in new})})
    stored = {(row.battle_id, row.evaluator): Branch(row.state) for row in rows}
    missing = {key: state for key, state in new.items() if key not in stored}
    changed = {key: state for key, state in new.items() if stored.get(key) not in (None, state, Branch.DONE)}
    if missing:
        connection.execute(insert(grader_states), _rows(missing, _COLUMNS))
    if changed:
        connection.execute(_CHANGE, _rows(changed, ("of", "by", "now")))


def _state_in(event: events.BattleEvent) -> tuple[_Key, Branch] | None:
    if isinstance(event, events.BattleGraded):
        return (event.battle_id, event.grading.evaluator), Branch.DONE
    if isinstance(event, events.BattleJudged) and event.judgment.additional:
        return (event.battle.id, event.judgment.evaluator), Branch.DONE
    if isinstance(event, events.BattleFailed) and event.failure.stage is Stage.GRADER:
        return (event.battle_id, event.failure.evaluator or ""), Branch.FAILED
    return None


def _rows(states: Mapping[_Key, Branch], names: tuple[str, str, str]) -> list[dict[str, str]]:
    return [dict(zip(names, (*key, state.value), strict=True)) for key, state in sorted(states.items())]
