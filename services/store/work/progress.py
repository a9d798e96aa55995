"""The events and failures that end the branches of the pipeline."""

from collections.abc import Sequence

from nuggetstream.domain import event as events
from nuggetstream.domain.pipeline import BRANCHES, branches_of
from nuggetstream.domain.progress import Branch
from services.wire.subjects import event_name


def branches_moved(event: events.BattleEvent) -> Sequence[tuple[str, Branch]]:
    """The state columns that an event changes, and their new values."""
    if isinstance(event, events.BattleFailed):
        return [(column, Branch.FAILED) for column in branches_of(event.failure.stage)]
    if isinstance(event, events.BattleJudged) and event.judgment.additional:
        return []
    name = event_name(type(event))
    return [(column, Branch.DONE) for column, end in BRANCHES.items() if name == end]
