"""How the nugget list of a battle came about, as the API shows it."""

from dataclasses import asdict

from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.history import steps_of
from nuggetstream.views.nuggets import NuggetStepView


def nugget_steps(snapshot: BattleSnapshot) -> list[NuggetStepView]:
    """What each step of the creation of the list changed, oldest first; empty before there is a list."""
    if snapshot.nugget_list is None:
        return []
    return [NuggetStepView(**asdict(step)) for step in steps_of(snapshot.nugget_list.history)]
