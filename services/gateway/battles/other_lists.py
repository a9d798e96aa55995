"""The nugget lists of nuggetizers other than the first, as the API shows them."""

from dataclasses import replace

from nuggetstream.domain.snapshot import BattleSnapshot
from nuggetstream.nuggets.explanation import explain
from nuggetstream.views.battles import OtherListView
from services.gateway.battles.verdicts import nugget_verdict_view, nugget_views


def other_list_views(snapshot: BattleSnapshot) -> list[OtherListView]:
    """Each list with its labels and the verdict that follows from it."""
    views = []
    for other in snapshot.other_lists:
        seen = replace(snapshot, nugget_list=other.nugget_list, assignments=other.assignments)
        explanation = explain(seen)
        views.append(
            OtherListView(
                nuggetizer=other.nugget_list.nuggetizer or "",
                model=other.nugget_list.model,
                nuggets=nugget_views(seen, explanation),
                verdict=nugget_verdict_view(explanation),
            )
        )
    return views
