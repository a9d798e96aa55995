"""GET /v1/battles/{id}/events: the events of a battle as server-sent events, until it has ended."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Header
from fastapi.responses import Response
from pydantic import TypeAdapter
from sse_starlette import EventSourceResponse, ServerSentEvent

from nuggetstream.domain.event import BattleSubmitted, Event
from services.access.visits import still_allowed
from services.gateway.battles.followers import check_sequence
from services.gateway.battles.query import BattleId
from services.gateway.errors import UnknownBattle
from services.gateway.ports import Gateway
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.store.event_reading import RecordedEvent
from services.wire.codec import decode

KEEP_ALIVE = 15.0  # seconds between comments, less than the idle timeout of common proxies

After = Annotated[
    int,
    Header(
        alias="last-event-id",
        ge=0,
        description="Number of the last event that the client has; only later ones are sent.",
    ),
]


def routes(gateway: Gateway) -> APIRouter:
    """The route of the event stream."""
    router = APIRouter(prefix="/v1", tags=["battles"], dependencies=[Depends(reject_unknown_parameters)])

    @router.get(
        "/battles/{battle_id:path}/events",
        summary="Follow a battle (server-sent events)",
        response_class=EventSourceResponse,
        responses={
            **{status: RESPONSES[status] for status in (404, 422, 503)},
            204: {"description": "The battle has ended, and there are no later events."},
        },
    )
    async def follow(battle_id: BattleId, last_event_id: After = 0) -> Response:
        """The `id` of an event is its number, counted from 1, and its data is JSON. The last event, `ended`,
        has no number, and its data is the battle's state."""
        row = await gateway.battles.get(battle_id)
        if row is None:
            raise UnknownBattle(battle_id)
        check_sequence("last-event-id", last_event_id, row.event_count)
        if row.ended_at is not None and last_event_id == row.event_count:
            return Response(status_code=204)  # makes an EventSource stop reconnecting
        return EventSourceResponse(_events(gateway, battle_id, last_event_id), ping=KEEP_ALIVE)

    return router


async def _events(gateway: Gateway, battle_id: str, after: int) -> AsyncIterator[ServerSentEvent]:
    async for recorded in gateway.followers.follow(battle_id, after):
        if not await still_allowed():
            return
        yield ServerSentEvent(event_json(recorded), event=recorded.name, id=str(recorded.sequence))
    row = await gateway.followers.look(battle_id)
    if row is not None and row.ended_at is not None:
        yield ServerSentEvent(row.state.value, event="ended")


def event_json(recorded: RecordedEvent) -> str:
    """A recorded event as JSON, without the texts of pages."""
    event = decode(recorded.schema, recorded.body)
    if isinstance(event, BattleSubmitted):
        event = replace(event, battle=event.battle.without_source_texts())
    return _EVENTS.dump_json(event).decode()


_EVENTS: TypeAdapter[Event] = TypeAdapter(Event)
