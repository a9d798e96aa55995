"""How the nugget list of a battle came about, as the API shows it."""

from collections.abc import Sequence

from nuggetstream.domain.nugget_edit import RecordedEdit
from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.history import steps_of
from nuggetstream.views.nuggets import NuggetEditView, NuggetStepView


def nugget_steps(snapshot: BattleSnapshot) -> list[NuggetStepView]:
    """What each step of the creation of the list changed, oldest first; empty before there is a list."""
    if snapshot.nugget_list is None:
        return []
    return [NuggetStepView.showing(step) for step in steps_of(snapshot.nugget_list.history)]


def edit_views(edits: Sequence[RecordedEdit]) -> list[NuggetEditView]:
    """The edits of a list, oldest first."""
    return [NuggetEditView.showing(edit) for edit in edits]
