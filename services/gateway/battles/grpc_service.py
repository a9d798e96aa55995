"""The gRPC service `Arena`: battles and votes are accepted, and a battle is followed."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, NoReturn

import grpc
from arena.v1 import arena_pb2, arena_pb2_grpc, events_pb2
from google.protobuf.descriptor import ServiceDescriptor

from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.views.battles import Submitted
from services.access.callers import Denied, Role, Unauthenticated
from services.access.rpc_guard import RpcRule, abort, guarded
from services.access.visits import VISIT, still_allowed
from services.gateway.access.submissions import submitted_each, submitted_one
from services.gateway.battles.bodies import MAX_BATTLE_BYTES
from services.gateway.battles.followers import check_sequence
from services.gateway.battles.groups import Groups
from services.gateway.battles.protobuf import human_vote_from, submission_from, submitted_fields
from services.gateway.errors import Conflict, InvalidQuery, UnknownBattle
from services.gateway.ports import Gateway
from services.gateway.problems import EXPECTED
from services.gateway.stream.protobuf import selection_of, watched_of
from services.gateway.stream.tail import Tail
from services.runtime.errors import Unavailable
from services.runtime.large_work import sized
from services.runtime.masking import KNOWN
from services.runtime.rpc import Register
from services.runtime.rpc_errors import end_call
from services.runtime.rpc_limits import RpcLimits
from services.store.battles.event_reading import RecordedEvent

RPC_LIMITS = RpcLimits(request_bytes=MAX_BATTLE_BYTES, connections=64)
"""What the server of the gateway accepts: requests as large as over HTTP, and few connections beside its own.

A connection carries many calls, and every open one is a file of the process.
"""

Context = grpc.aio.ServicerContext[Any, Any]

_CODES: dict[type[Exception], grpc.StatusCode] = {
    InvalidSubmission: grpc.StatusCode.INVALID_ARGUMENT,
    InvalidQuery: grpc.StatusCode.INVALID_ARGUMENT,
    Conflict: grpc.StatusCode.ALREADY_EXISTS,
    UnknownBattle: grpc.StatusCode.NOT_FOUND,
    Unavailable: grpc.StatusCode.UNAVAILABLE,
}


class ArenaServicer(arena_pb2_grpc.ArenaServicer):
    """Implements the service over the same ports as the HTTP routes."""

    def __init__(self, gateway: Gateway, tail: Tail) -> None:
        self._gateway, self._tail = gateway, tail

    async def SubmitBattle(  # noqa: N802 - the contract's name
        self, request: arena_pb2.SubmitBattleRequest, context: Context
    ) -> arena_pb2.SubmitBattleResponse:
        """Accept one battle."""
        try:
            parsed = await sized(request.ByteSize(), submission_from, request)
            submitted = await submitted_one(self._gateway, parsed)
        except EXPECTED as error:
            await _abort(context, error)
        return arena_pb2.SubmitBattleResponse(**submitted_fields(submitted))

    async def SubmitBattles(  # noqa: N802
        self,
        request_iterator: AsyncIterator[arena_pb2.SubmitBattlesRequest],
        context: Context,  # noqa: ARG002 - every error travels in its reply
    ) -> AsyncIterator[arena_pb2.SubmitBattlesResponse]:
        """Accept many battles, with one reply for each in order. A rejected one does not end the stream.

        Battles that arrive together are stored together.
        """
        groups = Groups(request_iterator, lambda request: request.ByteSize())
        async for request, outcome in submitted_each(self._gateway, groups, submission_from):
            yield _reply(request, outcome)

    async def WatchBattle(  # noqa: N802
        self, request: arena_pb2.WatchBattleRequest, context: Context
    ) -> AsyncIterator[events_pb2.WatchBattleResponse]:
        """The events of a battle, those to come included, until it has ended."""
        try:
            if (row := await self._gateway.followers.look(request.battle_id)) is not None:
                check_sequence("after", request.after, row.event_count)
            async for recorded in self._gateway.followers.follow(request.battle_id, request.after):
                if not await still_allowed():
                    raise Unauthenticated("the key is no longer valid")
                yield _watched(recorded)
        except EXPECTED as error:
            await _abort(context, error)

    async def WatchBattles(  # noqa: N802
        self, request: arena_pb2.WatchBattlesRequest, context: Context
    ) -> AsyncIterator[arena_pb2.WatchBattlesResponse]:
        """New events of all battles that a filter selects, and before them those after a position."""
        try:
            selection = selection_of(request)
            after = await self._tail.start(request.after if request.HasField("after") else None)
            await context.send_initial_metadata((("position", str(after)),))
            async for streamed in self._tail.follow(selection, after):
                if not await still_allowed():
                    raise Unauthenticated("the key is no longer valid")
                if streamed.recorded is not None:
                    yield watched_of(streamed, _watched(streamed.recorded))
        except EXPECTED as error:
            await _abort(context, error)

    async def CastVote(  # noqa: N802
        self, request: arena_pb2.CastVoteRequest, context: Context
    ) -> arena_pb2.CastVoteResponse:
        """Accept a human vote."""
        try:
            vote = human_vote_from(request)
            if (visit := VISIT.get()) is not None:
                visit.acted = True
            await self._gateway.intake.vote(request.battle_id, vote, datetime.now(UTC))
        except EXPECTED as error:
            await _abort(context, error)
        return arena_pb2.CastVoteResponse(battle_id=request.battle_id)


RULES = {
    "SubmitBattle": RpcRule(Role.SUBMIT, action="submit"),
    "SubmitBattles": RpcRule(Role.SUBMIT, action="submit"),
    "WatchBattle": RpcRule(Role.READ, battle=lambda request: request.battle_id),
    "WatchBattles": RpcRule(Role.READ),
    "CastVote": RpcRule(Role.VOTE, battle=lambda request: request.battle_id, action="vote"),
}
"""What each method needs; arenas of submissions are checked by `admitted`, of streams by `selection_of`."""


def arena_service(gateway: Gateway, tail: Tail) -> Register:
    """The service, ready to be added to a server."""

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        service, servicer = arena_pb2.DESCRIPTOR.services_by_name["Arena"], ArenaServicer(gateway, tail)
        if gateway.access is not None:
            servicer = guarded(servicer, service, RULES, gateway.access.rpc_guard())
        arena_pb2_grpc.add_ArenaServicer_to_server(servicer, server)
        return service

    return register


def _reply(
    request: arena_pb2.SubmitBattlesRequest, outcome: Submitted | Exception
) -> arena_pb2.SubmitBattlesResponse:
    if isinstance(outcome, Exception):
        return arena_pb2.SubmitBattlesResponse(battle_id=request.battle.id, error=KNOWN.redact(str(outcome)))
    return arena_pb2.SubmitBattlesResponse(**submitted_fields(outcome))


def _watched(recorded: RecordedEvent) -> events_pb2.WatchBattleResponse:
    response = events_pb2.WatchBattleResponse(sequence=recorded.sequence)
    # The name of the field is the stored name of the event, and its message is the stored body.
    field = getattr(response, recorded.name)
    field.SetInParent()
    field.MergeFromString(recorded.body)
    return response


async def _abort(context: Context, error: Exception) -> NoReturn:
    if isinstance(error, Denied):
        await abort(context, error)
    codes = (code for kind, code in _CODES.items() if isinstance(error, kind))
    await end_call(context, next(codes, grpc.StatusCode.INTERNAL), str(error))
