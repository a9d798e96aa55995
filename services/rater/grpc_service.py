"""`Ratings.GetLeaderboard`: the boards of an arena."""

from datetime import UTC, datetime

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.timestamp_pb2 import Timestamp

from services.core.leaderboard import Standing
from services.rater.boards import Boards, LensBoard
from services.runtime.errors import StageError
from services.runtime.rpc import Register
from services.store.outcomes import Lens

_LENSES = {
    ratings_pb2.LENS_HUMAN: Lens.HUMAN,
    ratings_pb2.LENS_NUGGET: Lens.NUGGET,
    ratings_pb2.LENS_JUDGE: Lens.JUDGE,
}
_NUMBERS = {lens: number for number, lens in _LENSES.items()}


class RatingsServicer(ratings_pb2_grpc.RatingsServicer):
    """Answers with boards computed from the outcomes as they are now."""

    def __init__(self, boards: Boards) -> None:
        self._boards = boards

    async def GetLeaderboard(  # noqa: N802 - the contract's name
        self,
        request: ratings_pb2.GetLeaderboardRequest,
        context: grpc.aio.ServicerContext[
            ratings_pb2.GetLeaderboardRequest, ratings_pb2.GetLeaderboardResponse
        ],
    ) -> ratings_pb2.GetLeaderboardResponse:
        """The boards of one arena, all three lenses by default."""
        if not request.arena:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "arena: is empty")
        if unknown := [number for number in request.lenses if number not in _LENSES]:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"lenses: {unknown[0]} is no lens")
        lenses = [_LENSES[number] for number in request.lenses] or list(Lens)
        try:
            boards = await self._boards.get(request.arena, lenses)
        except StageError as error:
            await context.abort(grpc.StatusCode.UNAVAILABLE, error.detail)
        now = Timestamp()
        now.FromDatetime(datetime.now(UTC))
        return ratings_pb2.GetLeaderboardResponse(boards=[_board(b) for b in boards], computed_at=now)


def ratings_service(boards: Boards) -> Register:
    """The service, ready to be added to a server."""

    def register(server: grpc.aio.Server) -> ServiceDescriptor:
        ratings_pb2_grpc.add_RatingsServicer_to_server(RatingsServicer(boards), server)
        return ratings_pb2.DESCRIPTOR.services_by_name["Ratings"]

    return register


def _board(lens_board: LensBoard) -> ratings_pb2.Board:
    board = lens_board.board
    return ratings_pb2.Board(
        arena=lens_board.arena,
        lens=_NUMBERS[lens_board.lens],
        standings=[_standing(standing) for standing in board.standings],
        scored=lens_board.scored,
        received=lens_board.received,
        tie_policy=board.policy.value,
        resamples=board.resamples,
        level=board.level,
    )


def _standing(standing: Standing) -> ratings_pb2.Standing:
    return ratings_pb2.Standing(
        system=standing.system,
        rating=standing.rating,
        low=standing.low,
        high=standing.high,
        rank=standing.rank,
        probability_first=standing.probability_first,
        battles=standing.battles,
        wins=standing.wins,
        losses=standing.losses,
        ties=standing.ties,
        unrankable=standing.unrankable.value if standing.unrankable else "",
    )
