"""Recorded events as JSON for clients: small views, without texts of pages and answers.

a recorded event  ->  an EventView        an ended battle  ->  its EndedEvent
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, cast

from nuggetstream.domain import event as core
from nuggetstream.domain.battle import Side
from nuggetstream.domain.disputes import disputed_by_labels
from nuggetstream.domain.nugget import Assignment, Correction
from nuggetstream.nuggets.scores import Unscorable, labels_of, preference, scores_of, tie_threshold
from nuggetstream.nuggets.undecided import undecided
from nuggetstream.views import events as views
from nuggetstream.views.battles import BattleView
from services.store.battles.event_reading import RecordedEvent
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
    own = views.OF_KIND[recorded.name].attributes(event)
    return views.EVENTS.validate_python(own | others | common, from_attributes=True)


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
    return views.EndedEvent.showing(view, battle_id=view.id, number=number, at=view.ended_at)


def _submitted(event: core.BattleSubmitted) -> Fields:
    battle = event.battle
    systems = {"system_a": battle.a.system, "system_b": battle.b.system}
    return views.SubmittedEvent.attributes(battle) | systems | {"flagged": bool(event.flags)}


def _graded(event: core.BattleGraded) -> Fields:
    grading = event.grading
    counts = {"grades": len(grading.grades), "members": len(grading.members)}
    return views.GradedEvent.attributes(grading) | counts


def _assigned(event: core.BattleAssigned) -> Fields:
    assigned = event.assignment_set
    nuggets = disputed_by_labels(event.nugget_list, assigned.assignments).nuggets
    a, b = (labels_of(assigned.assignments, side) for side in Side)
    fields: Fields = {"version": event.nugget_list.version, "model": assigned.model}
    fields["labels"] = [{"id": n.id, "a": a.get(n.id), "b": b.get(n.id)} for n in nuggets]
    fields["set_by"] = [
        _by_person(label, label.correction) for label in assigned.assignments if label.correction
    ]
    try:
        scores = scores_of(nuggets, assigned.assignments)
    except Unscorable:
        return fields | {"score_a": None, "score_b": None, "preference": None}
    score_a, score_b = (scores[side].all_score for side in Side)
    decides = undecided(event.nugget_list, assigned.assignments) is None
    preferred = preference(score_a, score_b, tie_threshold(event.battle)) if decides else None
    return fields | {"score_a": score_a, "score_b": score_b, "preference": preferred}


def _by_person(label: Assignment, correction: Correction) -> Fields:
    model = correction.model.support
    return {"id": label.nugget_id, "answer": label.side, "author": correction.author, "model": model}


_FIELDS: dict[type[core.BattleEvent], Callable[[Any], Fields]] = {
    core.BattleSubmitted: _submitted,
    core.BattleIndexed: lambda event: {"chunks": len(event.chunks)},
    core.BattleRetrieved: lambda event: {"passages": len(event.evidence)},
    core.BattleNuggetized: lambda event: views.NuggetizedEvent.attributes(event.nugget_list),
    core.BattleAssigned: _assigned,
    core.BattleJudged: lambda event: views.JudgedEvent.attributes(event.judgment),
    core.BattleGraded: _graded,
    core.BattleFailed: lambda event: views.FailedEvent.attributes(event.failure),
}
"""What an event has beside its own attributes of the same names."""
