"""Leaderboards, asked of the rater over gRPC and given as plain values."""

from collections.abc import Sequence
from dataclasses import dataclass

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc

from services.gateway.views import BoardView, StandingView
from services.runtime.rpc import DEADLINE, as_stage_error
from services.store.outcomes import Lens

_NUMBERS = {
    Lens.HUMAN: ratings_pb2.LENS_HUMAN,
    Lens.NUGGET: ratings_pb2.LENS_NUGGET,
    Lens.JUDGE: ratings_pb2.LENS_JUDGE,
}
_LENSES = {number: lens for lens, number in _NUMBERS.items()}
_ESTIMATES = ("rating", "low", "high", "rank", "probability_first")


@dataclass(frozen=True, slots=True)
class BoardsClient:
    """Asks the rater.

    Attributes:
        channel: to the rater.
        deadline: seconds for one call.
    """

    channel: grpc.aio.Channel
    deadline: float = DEADLINE

    async def get(self, arena: str, lenses: Sequence[Lens] = ()) -> list[BoardView]:
        """The boards of one arena, all three lenses by default.

        Raises:
            Unavailable: the rater does not answer.
            InvalidInput: the rater does not know what was asked for.
        """
        stub = ratings_pb2_grpc.RatingsStub(self.channel)
        numbers = [_NUMBERS[lens] for lens in lenses]
        request = ratings_pb2.GetLeaderboardRequest(arena=arena, lenses=numbers)
        try:
            response = await stub.GetLeaderboard(request, timeout=self.deadline)
        except grpc.aio.AioRpcError as error:
            raise as_stage_error(error, "the rater") from error
        return [_board(board) for board in response.boards]


def _board(board: ratings_pb2.Board) -> BoardView:
    return BoardView(
        arena=board.arena,
        lens=_LENSES[board.lens],
        standings=[_standing(standing) for standing in board.standings],
        scored=board.scored,
        received=board.received,
        tie_policy=board.tie_policy,
        resamples=board.resamples,
        level=board.level,
    )


def _standing(standing: ratings_pb2.Standing) -> StandingView:
    known = {name: getattr(standing, name) for name in _ESTIMATES if standing.HasField(name)}  # type: ignore[arg-type]
    return StandingView(
        system=standing.system,
        battles=standing.battles,
        wins=standing.wins,
        losses=standing.losses,
        ties=standing.ties,
        unrankable=standing.unrankable or None,
        **known,
    )
