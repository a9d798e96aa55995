"""GET /v1/stream: the events of all battles that a filter selects, as server-sent events."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query
from fastapi.responses import Response
from pydantic import Field
from sse_starlette import EventSourceResponse, ServerSentEvent

from nuggetstream.views.events import KINDS
from services.access.visits import still_allowed, visible_arenas
from services.gateway.battles.event_routes import KEEP_ALIVE
from services.gateway.problems import RESPONSES
from services.gateway.query import reject_unknown_parameters
from services.gateway.stream.selection import Selection
from services.gateway.stream.tail import Tail
from services.wire.query_parameters import QueryParameters, Text

_LAST = 2**63 - 1  # the greatest position that the database can store

LastEvent = Annotated[
    int | None,
    Header(
        alias="last-event-id",
        ge=0,
        le=_LAST,
        description="Id of the last event that the client has; events since then are sent first.",
    ),
]


Kind = Annotated[str, Field(pattern=f"^({'|'.join(sorted(KINDS))})$")]


class StreamQuery(QueryParameters):
    """Which events to send."""

    arena: Text | None = None
    """Only this arena; all that the key may read when absent."""
    system: Text | None = None
    """Only battles with an answer of this system."""
    tag: Text | None = None
    """Only battles with this tag."""
    language: Text | None = None
    """Only battles with this language tag, declared or detected."""
    kind: Annotated[list[Kind], Field(max_length=len(KINDS), default_factory=list)]
    """Only events of these kinds; may be repeated."""


def routes(tail: Tail) -> APIRouter:
    """The route of the stream."""
    router = APIRouter(prefix="/v1", tags=["battles"], dependencies=[Depends(reject_unknown_parameters)])

    @router.get(
        "/stream",
        summary="Follow all battles, by arena, system, tag, language and kind of event (server-sent events)",
        response_class=EventSourceResponse,
        responses={status: RESPONSES[status] for status in (422, 503)},
    )
    async def stream(query: Annotated[StreamQuery, Query()], last_event_id: LastEvent = None) -> Response:
        """Events to come, each with its kind as `event` and JSON as data. The `id` is its position; a client
        that reconnects with it misses nothing. The first `id` comes alone: the stream begins there."""
        selection = Selection(
            arenas=visible_arenas(query.arena),
            system=query.system,
            tag=query.tag,
            language=query.language,
            kinds=frozenset(query.kind),
        )
        after = await tail.start(last_event_id)
        return EventSourceResponse(_events(tail, selection, after), ping=KEEP_ALIVE)

    return router


async def _events(tail: Tail, selection: Selection, after: int) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(id=str(after))
    async for event in tail.follow(selection, after):
        if not await still_allowed():
            return
        yield ServerSentEvent(event.view.model_dump_json(), event=event.view.kind, id=str(event.position))
