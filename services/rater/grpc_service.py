"""`Ratings`: boards, combined ratings, pairs, advice and agreement, from the outcomes as they are now.

protobuf request  ->  query  ->  [boards]  ->  view  ->  protobuf reply
"""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from services.access.callers import Role
from services.access.rpc_guard import RpcGuard, RpcRule, guarded
from services.rater.boards import Boards
from services.rater.options import naming_the_field
from services.runtime.errors import InvalidInput, StageError
from services.runtime.rpc import Register
from services.runtime.rpc_errors import end_call
from services.wire.convert import to_message
from services.wire.rating_queries import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    SliceQuery,
    TimelineQuery,
    query_of,
)

Context = grpc.aio.ServicerContext[Any, Any]


_METHODS: dict[str, tuple[type[SliceQuery], Callable[[Boards, Any], Awaitable[object]]]] = {
    "GetLeaderboard": (BoardsQuery, Boards.leaderboard),
    "GetCombined": (CombinedQuery, Boards.combined),
    "GetPairs": (PairsQuery, Boards.pairs),
    "GetAdvice": (AdviceQuery, Boards.advice),
    "GetAgreement": (AgreementQuery, Boards.agreement),
    "GetTimeline": (TimelineQuery, Boards.timeline),
}
RULES = dict.fromkeys(_METHODS, RpcRule(Role.READ, arena=lambda request: request.arena))
"""What each method needs."""


def ratings_service(boards: Boards, guard: RpcGuard | None = None) -> Register:
    """The service, ready to be added to a server.

    Args:
        boards: Computes what it answers.
        guard: Checks callers; everybody is allowed when None.
    """

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        service: ServiceDescriptor = ratings_pb2.DESCRIPTOR.services_by_name["Ratings"]
        methods = {method.name: _method(boards, method) for method in service.methods}
        servicer: Any = SimpleNamespace(**methods)
        if guard is not None:
            servicer = guarded(servicer, service, RULES, guard)
        ratings_pb2_grpc.add_RatingsServicer_to_server(servicer, server)
        return service

    return register


def _method(boards: Boards, method: MethodDescriptor) -> Callable[[Message, Context], Awaitable[Message]]:
    """What answers the calls of a method, from the outcomes as they are now."""
    kind, answer = _METHODS[method.name]
    reply = GetMessageClass(method.output_type)

    async def call(request: Message, context: Context) -> Message:
        try:
            with naming_the_field():
                query = query_of(request, kind)
            return to_message(await answer(boards, query), reply)
        except InvalidInput as error:
            await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, error.detail)
        except StageError as error:
            await end_call(context, grpc.StatusCode.UNAVAILABLE, error.detail)

    return call
