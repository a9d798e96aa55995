"""Recorded events as JSON for clients: small views, without texts of pages and answers.

a recorded event  ->  an EventView        an ended battle  ->  its EndedEvent
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, cast

from nuggetstream.domain import event as core
from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Assignment, Correction
from nuggetstream.nuggets.scores import Unscorable, labels_of, preference, score_answer, tie_threshold
from nuggetstream.nuggets.undecided import undecided
from nuggetstream.views import events as views
from nuggetstream.views.battles import BattleView
from nuggetstream.views.common import View
from services.store.event_reading import RecordedEvent
from services.wire.codec import decode

Fields = dict[str, Any]


def event_view(recorded: RecordedEvent) -> views.AnyEvent:
    """A recorded event as clients get it.

    Raises:
        UndecodableMessage: The database holds bytes that this version's contracts cannot read.
    """
    event = cast(core.BattleEvent, decode(recorded.schema, recorded.body))
    common: Fields = {
        "kind": recorded.name,
        "battle_id": core.battle_id_of(event),
        "arena": core.arena_of(event),
        "number": recorded.sequence,
        "at": recorded.recorded_at,
    }
    others = _FIELDS[type(event)](event) if type(event) in _FIELDS else {}
    return views.EVENTS.validate_python(_of(views.OF_KIND[recorded.name], event) | others | common)


def ending_number(recorded: Iterable[RecordedEvent], ended_at: datetime) -> int | None:
    """Number of the event that ended a battle, after which there may be votes and edits.

    Args:
        recorded: Events of the battle in order.
        ended_at: When the battle ended.
    """
    return max((event.sequence for event in recorded if event.recorded_at <= ended_at), default=None)


def ended_view(view: BattleView, number: int) -> views.EndedEvent | None:
    """The end of a battle; None while it runs.

    Args:
        view: The battle.
        number: Number of the event that ended it.
    """
    if view.ended_at is None:
        return None
    return views.EndedEvent(
        battle_id=view.id,
        arena=view.arena,
        number=number,
        at=view.ended_at,
        state=view.state,
        preferences=view.preferences,
        explanation=view.explanation,
    )


def _submitted(event: core.BattleSubmitted) -> Fields:
    battle = event.battle
    return {
        "query": battle.query,
        "system_a": battle.a.system,
        "system_b": battle.b.system,
        "language": battle.language,
        "tags": list(battle.tags),
        "flagged": bool(event.flags),
    }


def _assigned(event: core.BattleAssigned) -> Fields:
    nuggets, assigned = event.nugget_list.nuggets, event.assignment_set
    a, b = (labels_of(assigned.assignments, side) for side in Side)
    fields: Fields = {"version": event.nugget_list.version, "model": assigned.model}
    fields["labels"] = [{"id": n.id, "a": a.get(n.id), "b": b.get(n.id)} for n in nuggets]
    fields["set_by"] = [_by_person(each, each.correction) for each in assigned.assignments if each.correction]
    try:
        score_a, score_b = score_answer(nuggets, a).all_score, score_answer(nuggets, b).all_score
    except Unscorable:
        return fields | {"score_a": None, "score_b": None, "preference": None}
    decides = undecided(event.nugget_list, assigned.assignments) is None
    preferred = preference(score_a, score_b, tie_threshold(event.battle)) if decides else None
    return fields | {"score_a": score_a, "score_b": score_b, "preference": preferred}


def _by_person(label: Assignment, correction: Correction) -> Fields:
    model = correction.model.support
    return {"id": label.nugget_id, "answer": label.side, "author": correction.author, "model": model}


def _of(view: type[View], value: object) -> Fields:
    """The attributes of a value that have the names of a view's fields."""
    return {name: getattr(value, name) for name in view.model_fields if hasattr(value, name)}


def _all_of(view: type[View], values: Iterable[object]) -> list[Fields]:
    return [_of(view, value) for value in values]


_FIELDS: dict[type[core.BattleEvent], Callable[[Any], Fields]] = {
    core.BattleSubmitted: _submitted,
    core.BattleScraped: lambda event: {"pages": _all_of(views.PageResult, event.pages)},
    core.BattleIndexed: lambda event: {"chunks": len(event.chunks)},
    core.BattleRetrieved: lambda event: {"passages": len(event.evidence)},
    core.BattleNuggetized: lambda event: (
        _of(views.NuggetizedEvent, event.nugget_list)
        | {"nuggets": _all_of(views.NuggetText, event.nugget_list.nuggets)}
    ),
    core.BattleAssigned: _assigned,
    core.BattleJudged: lambda event: _of(views.JudgedEvent, event.judgment),
    core.BattleGraded: lambda event: (
        _of(views.GradedEvent, event.grading)
        | {"grades": len(event.grading.grades), "members": len(event.grading.members)}
    ),
    core.BattleFailed: lambda event: _of(views.FailedEvent, event.failure),
}
"""What an event has beside its own attributes of the same names."""
