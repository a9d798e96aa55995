"""`Ratings`: boards, combined ratings, pairs, advice and agreement, from the outcomes as they are now.

protobuf request  ->  query  ->  [boards]  ->  view  ->  protobuf reply
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.message import Message

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
Q = TypeVar("Q", bound=SliceQuery)
M = TypeVar("M", bound=Message)


class RatingsServicer(ratings_pb2_grpc.RatingsServicer):
    """Answers with what is computed from the outcomes as they are now."""

    def __init__(self, boards: Boards) -> None:
        self._boards = boards

    async def GetLeaderboard(  # noqa: N802 - the contract's name
        self, request: ratings_pb2.GetLeaderboardRequest, context: Context
    ) -> ratings_pb2.GetLeaderboardResponse:
        """The boards of one arena, all three lenses by default."""
        answer, reply = self._boards.leaderboard, ratings_pb2.GetLeaderboardResponse
        return await _answered(context, request, BoardsQuery, answer, reply)

    async def GetCombined(  # noqa: N802
        self, request: ratings_pb2.GetCombinedRequest, context: Context
    ) -> ratings_pb2.GetCombinedResponse:
        """People's votes and automatic ones in one rating."""
        answer, reply = self._boards.combined, ratings_pb2.GetCombinedResponse
        return await _answered(context, request, CombinedQuery, answer, reply)

    async def GetPairs(  # noqa: N802
        self, request: ratings_pb2.GetPairsRequest, context: Context
    ) -> ratings_pb2.GetPairsResponse:
        """Every pair of systems."""
        answer, reply = self._boards.pairs, ratings_pb2.GetPairsResponse
        return await _answered(context, request, PairsQuery, answer, reply)

    async def GetAdvice(  # noqa: N802
        self, request: ratings_pb2.GetAdviceRequest, context: Context
    ) -> ratings_pb2.GetAdviceResponse:
        """What to ask next."""
        answer, reply = self._boards.advice, ratings_pb2.GetAdviceResponse
        return await _answered(context, request, AdviceQuery, answer, reply)

    async def GetAgreement(  # noqa: N802
        self, request: ratings_pb2.GetAgreementRequest, context: Context
    ) -> ratings_pb2.GetAgreementResponse:
        """How far the lenses agree."""
        answer, reply = self._boards.agreement, ratings_pb2.GetAgreementResponse
        return await _answered(context, request, AgreementQuery, answer, reply)

    async def GetTimeline(  # noqa: N802
        self, request: ratings_pb2.GetTimelineRequest, context: Context
    ) -> ratings_pb2.GetTimelineResponse:
        """Ratings over time."""
        answer, reply = self._boards.timeline, ratings_pb2.GetTimelineResponse
        return await _answered(context, request, TimelineQuery, answer, reply)


_READ = RpcRule(Role.READ, arena=lambda request: request.arena)
_ASKED = ("Leaderboard", "Combined", "Pairs", "Advice", "Timeline", "Agreement")
RULES = {f"Get{name}": _READ for name in _ASKED}
"""What each method needs."""


def ratings_service(boards: Boards, guard: RpcGuard | None = None) -> Register:
    """The service, ready to be added to a server.

    Args:
        boards: Computes what it answers.
        guard: Checks callers; everybody is allowed when None.
    """

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        service, servicer = ratings_pb2.DESCRIPTOR.services_by_name["Ratings"], RatingsServicer(boards)
        if guard is not None:
            servicer = guarded(servicer, service, RULES, guard)
        ratings_pb2_grpc.add_RatingsServicer_to_server(servicer, server)
        return service

    return register


async def _answered(
    context: Context,
    request: Message,
    kind: type[Q],
    answer: Callable[[Q], Awaitable[object]],
    reply: type[M],
) -> M:
    try:
        with naming_the_field():
            query = query_of(request, kind)
        return to_message(await answer(query), reply)
    except InvalidInput as error:
        await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, error.detail)
    except StageError as error:
        await end_call(context, grpc.StatusCode.UNAVAILABLE, error.detail)
