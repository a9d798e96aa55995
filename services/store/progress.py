"""The events and failures that end the two branches of the flow, nuggets and judge."""

from collections.abc import Sequence

from nuggetstream.domain import event as events
from nuggetstream.domain.failure import Stage
from nuggetstream.domain.progress import Branch

# The branches that end when a stage gives up.
_ENDED_BY = {
    Stage.INTAKE: ("nugget_state", "judge_state"),
    Stage.SCRAPER: ("nugget_state", "judge_state"),
    Stage.INDEXER: ("nugget_state", "judge_state"),
    Stage.RETRIEVER: ("nugget_state", "judge_state"),
    Stage.NUGGETIZER: ("nugget_state",),
    Stage.ASSIGNER: ("nugget_state",),
    Stage.JUDGE: ("judge_state",),
    Stage.RECORDER: (),
    Stage.GRADER: (),
}


def columns_ended_by(stage: Stage) -> Sequence[str]:
    """The state columns of the branches that end when a stage gives up."""
    return _ENDED_BY[stage]


def branches_moved(event: events.BattleEvent) -> Sequence[tuple[str, Branch]]:
    """The state columns that an event changes, and their new values."""
    if isinstance(event, events.BattleAssigned):
        return [("nugget_state", Branch.DONE)]
    if isinstance(event, events.BattleJudged) and not event.judgment.additional:
        return [("judge_state", Branch.DONE)]
    if isinstance(event, events.BattleFailed):
        return [(column, Branch.FAILED) for column in _ENDED_BY[event.failure.stage]]
    return []
