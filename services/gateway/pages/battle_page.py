"""The page of a battle.

GET /battles/{id}  ->  HTML
"""

from fastapi import Request
from jinja2 import Environment

from nuggetstream.domain.battle import Side
from nuggetstream.domain.offline import any_offline
from services.gateway.pages.explanation import explanation_lines, failure_groups
from services.gateway.pages.grades import grade_tables
from services.gateway.pages.markdown import rendered
from services.gateway.pages.quotes import passage_places, passages_of, pieces_of, places_in
from services.gateway.pages.sentences import sentences_of, with_unsupported
from services.gateway.pages.stages import NAMES, timeline_of
from services.gateway.pages.verdict import verdict_of
from services.gateway.ports import Gateway


async def battle(gateway: Gateway, env: Environment, battle_id: str, request: Request) -> str:
    """GET /battles/{id}."""
    view = await gateway.view(battle_id)
    sentences = {side.value: sentences_of(view, side) for side in Side}
    pieces = {
        side.value: tuple(with_unsupported(pieces_of(view, side), sentences[side.value])) for side in Side
    }
    passages = passages_of(view)
    costs = await gateway.costs.of_battle(battle_id)
    return env.get_template("battle/page.html").render(
        arena=view.arena,
        base_url=str(request.base_url).rstrip("/"),
        battle=view,
        offline=any_offline([view.label_model, *(judgment.model for judgment in view.judgments)]),
        verdict=verdict_of(view),
        stage_names=NAMES,
        timeline=timeline_of(view, costs),
        answers={side: rendered(text, side) for side, text in pieces.items()},
        sentences=sentences,
        places={side: places_in(text, side) for side, text in pieces.items()},
        passages=passages,
        passage_places=passage_places(passages),
        explanation=list(explanation_lines(view)),
        failures=failure_groups(view, costs),
        grades=grade_tables(view),
        editing=None if gateway.access is None else gateway.access.editing(view.arena),
        edits="edit" in request.query_params,
    )
