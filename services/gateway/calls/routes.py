"""GET /v1/battles/{id}/calls, and the page /battles/{id}/calls."""

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse
from jinja2 import Environment

from nuggetstream.domain.identity import content_hash
from nuggetstream.views.calls import CallView
from services.gateway.administration import FORBIDDEN
from services.gateway.battles.intake import known_row
from services.gateway.battles.query import BattleId
from services.gateway.pages.stages import waterfall_of
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.runtime.tracing import trace_id_of
from services.store.battles.battles import BattleRow, Battles
from services.store.database import Database
from services.store.spend.call_reading import read_calls


def routes(database: Database, env: Environment) -> APIRouter:
    """The routes that show model calls.

    Args:
        database: The database.
        env: Templates of the pages.
    """
    battles = Battles(database)

    async def read(battle_id: str) -> tuple[BattleRow, list[CallView]]:
        row = await known_row(battles, battle_id)
        return row, await database.read(lambda connection: read_calls(connection, battle_id))

    router = APIRouter()

    @router.get(
        "/v1/battles/{battle_id:path}/calls",
        summary="The model calls of a battle, with prompts and replies",
        tags=["administration"],
        dependencies=[Depends(reject_unknown_parameters)],
        responses={**FORBIDDEN, **{status: RESPONSES[status] for status in (404, 422, 503)}},
    )
    async def calls(battle_id: BattleId) -> list[CallView]:
        """In the order in which they began. Calls are kept for the days that the platform is configured for;
        those of the last seconds may be missing."""
        return (await read(battle_id))[1]

    @router.get(
        "/battles/{battle_id:path}/calls",
        include_in_schema=False,
        response_class=HTMLResponse,
    )
    async def page(battle_id: str) -> str:
        row, made = await read(battle_id)
        return env.get_template("calls/page.html").render(
            arena=row.arena,
            battle=row,
            calls=made,
            bars=waterfall_of(made),
            trace=trace_id_of(content_hash(row.id)),
        )

    return router
