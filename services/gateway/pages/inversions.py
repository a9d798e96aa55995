"""Where people and machines disagree, and what may explain it.

GET /inversions?arena=…  ->  the agreement of the lenses, and the newest disagreements by reason
"""

from fastapi import Request
from jinja2 import Environment

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.domain.nugget import Cause, Support
from nuggetstream.views.battles import BattleView
from services.gateway.pages.board_routes import busiest_arena
from services.gateway.pages.verdict import verdict_of
from services.gateway.ports import Gateway
from services.gateway.query import query_from_form
from services.store.battles.battle_search import BattleFilter
from services.wire.query_parameters import QueryParameters
from services.wire.rating_queries import AgreementQuery, Arena

_BATTLES = 40  # disagreements that are read
_CLOSE = 2.0  # times the tie threshold
_LONGER = 1.5  # times the length of the other answer

REASONS = {
    "close": "The nuggets differ little: by less than twice the tie threshold",
    "flipped": "The judge changed its verdict with the order of the answers",
    "length": "The preferred answer of people is at least half again as long as the other",
    "unsourced": "Most of what an answer does not say is in no source, only in the other answer",
    "unknown": "None of these",
}


class InversionsQuery(QueryParameters):
    """Whose disagreements the page shows."""

    arena: Arena = "default"
    """Arena of the battles."""


def reason_of(view: BattleView) -> str:
    """What may explain that the lenses of a battle disagree: the first key of `REASONS` that holds."""
    if _is_close(view):
        return "close"
    if any(judgment.flipped for judgment in view.judgments):
        return "flipped"
    lengths = {Vote.A: len(view.a.text), Vote.B: len(view.b.text)}
    if view.human_vote in lengths and lengths[view.human_vote] >= _LONGER * min(lengths.values()):
        return "length"
    unsaid = [
        nugget.is_unconfirmed or label.cause is Cause.UNSOURCED
        for nugget in view.nuggets
        for label in (nugget.a, nugget.b)
        if label and label.support is Support.NOT_SUPPORT
    ]
    if sum(unsaid) * 2 > len(unsaid):
        return "unsourced"
    return "unknown"


def _is_close(view: BattleView) -> bool:
    """Whether the leading preference by nuggets rests on a small difference."""
    verdict = view.grounded_verdict if view.leading is Lens.GROUNDED else view.nugget_verdict
    if view.nugget_verdict is None or verdict is None:
        return False
    threshold = view.nugget_verdict.tie_threshold
    return threshold < abs(verdict.margin) < _CLOSE * threshold


async def inversions(gateway: Gateway, env: Environment, request: Request) -> str:
    """GET /inversions."""
    arenas, busiest = await busiest_arena(gateway)
    query = query_from_form(InversionsQuery, request.query_params, arena=busiest)
    agreement = await gateway.ratings.agreement(AgreementQuery(arena=query.arena))
    page = await gateway.listed(BattleFilter(arena=query.arena, disagreeing=True), _BATTLES, None)
    by_reason: dict[str, list[tuple[BattleView, str | None]]] = {reason: [] for reason in REASONS}
    for battle in page.battles:
        view = await gateway.view(battle.id)
        by_reason[reason_of(view)].append((view, verdict_of(view)))
    return env.get_template("inversions/page.html").render(
        arena=query.arena,
        arenas=arenas,
        pairs=[pair for pair in agreement.pairs if {pair.first, pair.second} <= set(INDEPENDENT)],
        reasons=REASONS,
        found={reason: battles for reason, battles in by_reason.items() if battles},
        shown=len(page.battles),
        has_more=page.next is not None,
        offline=await gateway.is_offline(query.arena),
    )
