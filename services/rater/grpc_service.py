"""`Ratings`: boards, combined ratings, pairs, advice and agreement, from the outcomes as they are now."""

from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from nuggetstream.ratings.fitting.tally import TiePolicy
from nuggetstream.ratings.options import Intervals, Options
from services.access.callers import Role
from services.access.rpc_guard import RpcGuard, RpcRule, guarded
from services.rater import replies, requests
from services.rater.boards import Boards
from services.rater.options import method
from services.runtime.errors import InvalidInput, StageError
from services.runtime.rpc import Register
from services.runtime.rpc_errors import end_call
from services.store.slices import Slice

Context = grpc.aio.ServicerContext[Any, Any]
R = TypeVar("R")

_POWER, _COUNT = 0.8, 10  # of advice, where nobody says otherwise
_SANDWICHED = tuple(policy for policy in TiePolicy if not policy.models_ties)


class RatingsServicer(ratings_pb2_grpc.RatingsServicer):
    """Answers with what is computed from the outcomes as they are now."""

    def __init__(self, boards: Boards) -> None:
        self._boards = boards

    async def GetLeaderboard(  # noqa: N802 - the contract's name
        self, request: ratings_pb2.GetLeaderboardRequest, context: Context
    ) -> ratings_pb2.GetLeaderboardResponse:
        """The boards of one arena, all three lenses by default."""
        return await _answered(context, self._leaderboard(request))

    async def GetCombined(  # noqa: N802
        self, request: ratings_pb2.GetCombinedRequest, context: Context
    ) -> ratings_pb2.GetCombinedResponse:
        """People's votes and automatic ones in one rating."""
        return await _answered(context, self._combined(request))

    async def GetPairs(  # noqa: N802
        self, request: ratings_pb2.GetPairsRequest, context: Context
    ) -> ratings_pb2.GetPairsResponse:
        """Every pair of systems."""
        return await _answered(context, self._pairs(request))

    async def GetAdvice(  # noqa: N802
        self, request: ratings_pb2.GetAdviceRequest, context: Context
    ) -> ratings_pb2.GetAdviceResponse:
        """What to ask next."""
        return await _answered(context, self._advice(request))

    async def GetAgreement(  # noqa: N802
        self, request: ratings_pb2.GetAgreementRequest, context: Context
    ) -> ratings_pb2.GetAgreementResponse:
        """How far the lenses agree."""
        return await _answered(context, self._agreement(request))

    async def GetTimeline(  # noqa: N802
        self, request: ratings_pb2.GetTimelineRequest, context: Context
    ) -> ratings_pb2.GetTimelineResponse:
        """Ratings of one lens over time."""
        return await _answered(context, self._timeline(request))

    def _slice(self, asked: ratings_pb2.Slice) -> Slice:
        return requests.slice_of(asked, self._boards.flagged)

    async def _leaderboard(
        self, request: ratings_pb2.GetLeaderboardRequest
    ) -> ratings_pb2.GetLeaderboardResponse:
        arena, lenses = requests.arena_of(request.arena), requests.lenses_of(request.lenses)
        options = requests.options_of(request.options, self._boards.options)
        slice_ = self._slice(request.slice)
        boards = await self._boards.get(arena, lenses, requests.drawable(options, slice_), slice_)
        now = Timestamp()
        now.FromDatetime(datetime.now(UTC))
        messages = [replies.board_message(board) for board in boards]
        return ratings_pb2.GetLeaderboardResponse(boards=messages, computed_at=now)

    async def _combined(self, request: ratings_pb2.GetCombinedRequest) -> ratings_pb2.GetCombinedResponse:
        arena, automatic = requests.arena_of(request.arena), requests.automatic_of(request.automatic)
        options = Options(
            intervals=Intervals.SANDWICH,
            level=requests.level_of(request.level) if request.HasField("level") else Options().level,
            anchor=requests.anchor_of(request.anchor) if request.HasField("anchor") else None,
        )
        slice_ = self._slice(request.slice)
        combined = await self._boards.combined(arena, automatic, slice_, options)
        if not combined.systems:
            options = replace(options, anchor=None)  # there is no scale to fix
        reply = replies.combined_reply(combined, method(options, slice_))
        reply.arena, reply.received = arena, await self._boards.received(arena, slice_)
        reply.automatic_lens = replies.lens_number(automatic)
        return reply

    async def _pairs(self, request: ratings_pb2.GetPairsRequest) -> ratings_pb2.GetPairsResponse:
        arena, lens = requests.arena_of(request.arena), requests.lens_of(request.lens)
        options = requests.options_of(request.options, self._boards.options)
        slice_ = self._slice(request.slice)
        ratings = await self._boards.pairs(arena, lens, requests.drawable(options, slice_), slice_)
        reply = replies.pairs_reply(ratings, slice_)
        reply.arena, reply.lens = arena, replies.lens_number(lens)
        reply.scored = await self._boards.scored(arena, lens, slice_)
        reply.received = await self._boards.received(arena, slice_)
        return reply

    async def _advice(self, request: ratings_pb2.GetAdviceRequest) -> ratings_pb2.GetAdviceResponse:
        arena, lens = requests.arena_of(request.arena), requests.lens_of(request.lens)
        own = self._boards.policy if self._boards.policy in _SANDWICHED else TiePolicy.HALF
        options = Options(
            policy=requests.policy_of(request.ties, own, _SANDWICHED),
            intervals=Intervals.SANDWICH,
            level=requests.level_of(request.level) if request.HasField("level") else Options().level,
        )
        power = requests.power_of(request.power) if request.HasField("power") else _POWER
        count = requests.count_of(request.count) if request.HasField("count") else _COUNT
        slice_ = self._slice(request.slice)
        ratings, advice = await self._boards.advice(arena, lens, options, slice_, power=power, count=count)
        reply = replies.advice_reply(ratings, advice, slice_)
        reply.arena, reply.lens, reply.power = arena, replies.lens_number(lens), power
        reply.scored = await self._boards.scored(arena, lens, slice_)
        reply.received = await self._boards.received(arena, slice_)
        return reply

    async def _timeline(self, request: ratings_pb2.GetTimelineRequest) -> ratings_pb2.GetTimelineResponse:
        arena, lens = requests.arena_of(request.arena), requests.lens_of(request.lens)
        options = requests.options_of(request.options, self._boards.options)
        every, slice_ = requests.every_of(request.every), self._slice(request.slice)
        periods = await self._boards.timeline(
            arena,
            lens,
            requests.drawable(options, slice_),
            slice_,
            every=every,
            cumulative=request.cumulative,
        )
        reply = replies.timeline_reply(periods, replace(options, anchor=None), slice_)
        reply.arena, reply.lens = arena, replies.lens_number(lens)
        reply.every, reply.cumulative = every.value, request.cumulative
        reply.scored = await self._boards.scored(arena, lens, slice_)
        reply.received = await self._boards.received(arena, slice_)
        return reply

    async def _agreement(self, request: ratings_pb2.GetAgreementRequest) -> ratings_pb2.GetAgreementResponse:
        arena = requests.arena_of(request.arena)
        policy = requests.policy_of(request.ties, self._boards.policy)
        slice_ = self._slice(request.slice)
        agreements = await self._boards.agreement(arena, policy, slice_)
        return ratings_pb2.GetAgreementResponse(
            arena=arena,
            pairs=[replies.agreement_message(agreement) for agreement in agreements],
            received=await self._boards.received(arena, slice_),
            tie_policy=policy.value,
            slice=replies.slice_message(slice_),
        )


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


async def _answered(context: Context, answering: Awaitable[R]) -> R:
    try:
        return await answering
    except InvalidInput as error:
        await end_call(context, grpc.StatusCode.INVALID_ARGUMENT, error.detail)
    except StageError as error:
        await end_call(context, grpc.StatusCode.UNAVAILABLE, error.detail)
