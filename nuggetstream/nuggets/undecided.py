"""Why the nuggets of a battle do not say which answer is better, although every one of them has a label."""

from collections.abc import Iterable

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import UNSTATED, Assignment, NuggetList
from nuggetstream.nuggets.scores import counted

_STATED_BY_NO_SOURCE = "No source states any of the nuggets, so there is no verdict by nuggets."
ALL_DISPUTED = "Every nugget is disputed, so there is no verdict by nuggets."
_ONE_ANSWER_ALONE = (
    "No source was read, and at most one answer states any of the nuggets, so there is no verdict by nuggets."
)


def undecided(nugget_list: NuggetList, assignments: Iterable[Assignment]) -> str | None:
    """Why there is no verdict by nuggets, in a sentence; None where there is one.

    An answer earns nothing by claims that nothing confirms. Where sources were read, at least one nugget must
    be grounded, or of unknown grounding, and disputed ones never count. Where none was read, the answers can
    only be compared with each other, and both of them must state something.

    Args:
        nugget_list: The nuggets with their grounding.
        assignments: Their labels.
    """
    if not all(nugget.is_unconfirmed for nugget in nugget_list.nuggets):
        return None
    if nugget_list.has_read_sources:
        return _STATED_BY_NO_SOURCE
    if not counted(nugget_list.nuggets):
        return ALL_DISPUTED
    stating = {label.side for label in assignments if label.support not in UNSTATED}
    return None if len(stating) == len(Side) else _ONE_ANSWER_ALONE
