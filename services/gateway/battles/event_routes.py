"""GET /v1/battles/{id}/events: the events of a battle as server-sent events, until it has ended."""

from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.responses import Response
from sse_starlette import EventSourceResponse, ServerSentEvent

from services.access.visits import still_allowed
from services.gateway.battles.event_views import ended_view, ending_number, event_view
from services.gateway.battles.followers import check_sequence
from services.gateway.battles.query import BattleId
from services.gateway.errors import UnknownBattle
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.store.battles.event_reading import RecordedEvent

KEEP_ALIVE = 15.0  # seconds between comments, less than the idle timeout of common proxies

After = Annotated[
    int,
    Header(
        alias="last-event-id",
        ge=0,
        description="Number of the last event that the client has; only later ones are sent.",
    ),
]


_EVENTS = {"text/event-stream": {"schema": {"$ref": "#/components/schemas/BattleEvent"}}}


def routes(gateway: Gateway) -> APIRouter:
    """The route of the event stream."""
    router = APIRouter(prefix="/v1", tags=["battles"], dependencies=[Depends(reject_unknown_parameters)])

    @router.get(
        "/battles/{battle_id:path}/events",
        summary="Follow a battle (server-sent events)",
        response_class=EventSourceResponse,
        responses={
            **{status: RESPONSES[status] for status in (404, 422, 503)},
            200: {"description": "Events; the data of each is a `BattleEvent`.", "content": _EVENTS},
            204: {"description": "The battle has ended, and there are no later events."},
        },
    )
    async def follow(battle_id: BattleId, last_event_id: After = 0) -> Response:
        """The `id` of an event is its number, counted from 1, and its data is JSON. The last event, `ended`,
        has no `id`, and tells the battle's state, preferences and explanation."""
        return await event_stream(gateway, battle_id, last_event_id)

    return router


async def event_stream(gateway: Gateway, battle_id: str, after: int) -> Response:
    """The events of a battle after one of them, as server-sent events; 204 where no more will come.

    Raises:
        UnknownBattle: There is no such battle.
        InvalidQuery: It has no event with this number yet.
        Unavailable: The database does not answer.
    """
    row = await gateway.battles.get(battle_id)
    if row is None:
        raise UnknownBattle(battle_id)
    check_sequence("last-event-id", after, row.event_count)
    if row.ended_at is not None and after == row.event_count:
        return Response(status_code=204)  # makes an EventSource stop reconnecting
    return EventSourceResponse(_events(gateway, battle_id, after), ping=KEEP_ALIVE)


async def _events(gateway: Gateway, battle_id: str, after: int) -> AsyncIterator[ServerSentEvent]:
    number = after
    async for recorded in gateway.followers.follow(battle_id, after, texts=False):
        if not await still_allowed():
            return
        number = recorded.sequence
        yield ServerSentEvent(_data(recorded), event=recorded.name, id=str(recorded.sequence))

    async def ended() -> str | None:
        view = await gateway.view(battle_id)
        if view.ended_at is None:
            return None
        _, recorded = await gateway.battles.progress(battle_id, texts=False)
        event = ended_view(view, ending_number(recorded, view.ended_at) or number)
        return None if event is None else event.model_dump_json()

    try:
        followers = gateway.followers
        data = await followers.outlast(lambda: followers.queries.shared(("ended", battle_id, number), ended))
    except UnknownBattle:
        return  # it was deleted just now
    if data is not None:
        yield ServerSentEvent(data, event="ended")


@lru_cache(maxsize=64)  # those who follow the same battle get the same event at about the same time
def _data(recorded: RecordedEvent) -> str:
    return event_view(recorded).model_dump_json()
