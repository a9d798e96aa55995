"""Filters and events of streams over many battles as protobuf."""

from arena.v1 import arena_pb2, events_pb2

from nuggetstream.views.events import OF_BATTLES
from services.access.callers import Role
from services.access.visits import VISIT, visible_arenas
from services.gateway.stream.reading import StreamEvent
from services.gateway.stream.selection import Selection, require_known


def selection_of(request: arena_pb2.WatchBattlesRequest) -> Selection:
    """The filter of a request; an empty field selects everything.

    Raises:
        NotAllowed: The caller may not read the arena.
        InvalidQuery: There is no such kind of event.
    """
    visit, arena = VISIT.get(), request.arena or None
    if visit is not None and arena is not None:
        visit.caller.require(Role.READ, arena)
        visit.arena = arena
    require_known(request.kinds, OF_BATTLES)
    return Selection(
        arenas=visible_arenas(arena),
        system=request.system or None,
        tag=request.tag or None,
        language=request.language or None,
        kinds=frozenset(request.kinds),
    )


def watched_of(
    streamed: StreamEvent, event: events_pb2.WatchBattleResponse
) -> arena_pb2.WatchBattlesResponse:
    """An event as it is sent."""
    response = arena_pb2.WatchBattlesResponse(
        battle_id=streamed.key.battle_id, arena=streamed.row.arena, event=event, position=streamed.position
    )
    response.recorded_at.FromDatetime(streamed.key.recorded_at)
    return response
