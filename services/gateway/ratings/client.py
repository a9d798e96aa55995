"""The client of the rater: each method makes one gRPC call."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
from arena.v1 import ratings_pb2, ratings_pb2_grpc

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from services.access.signing import HEADER
from services.gateway.errors import InvalidQuery
from services.runtime.rpc import DEADLINE
from services.runtime.rpc_errors import as_stage_error, own_words
from services.wire.convert import from_message, to_message
from services.wire.query_parameters import QueryParameters
from services.wire.rating_queries import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    TimelineQuery,
)


@dataclass(frozen=True, slots=True)
class RatingsClient:
    """Client of the rater.

    Every method may raise:
        Unavailable: the rater does not answer.
        Retryable: the rater failed; the rater's log has the cause.
        InvalidQuery: a parameter is not valid for these battles, such as an anchor that is not ranked.

    Attributes:
        channel: Channel to the rater.
        nuggets: The lens that stands for nuggets where a caller names no lens.
        deadline: Seconds for one call.
        sign: Gives the proof that the platform asks; None where the rater needs none.
    """

    channel: grpc.aio.Channel
    nuggets: Lens = Lens.NUGGET
    deadline: float = DEADLINE
    sign: Callable[[], Awaitable[str]] | None = None

    async def get(self, arena: str, lenses: Sequence[Lens] = ()) -> list[BoardView]:
        """The boards of one arena with the default method; the three independent lenses by default."""
        return await self.boards(BoardsQuery(arena=arena, lens=list(lenses)))

    async def boards(self, query: BoardsQuery) -> list[BoardView]:
        """One board per lens."""
        if not query.lens:
            query = query.model_copy(update={"lens": self.lenses})
        response = await self._ask("GetLeaderboard", query)
        return [from_message(board, BoardView) for board in response.boards]

    @property
    def lenses(self) -> list[Lens]:
        """The lenses of a caller who names none."""
        return [self.nuggets if lens is Lens.NUGGET else lens for lens in INDEPENDENT]

    async def combined(self, query: CombinedQuery) -> CombinedView:
        """Human and automatic votes in one rating."""
        return from_message(await self._ask("GetCombined", query), CombinedView)

    async def pairs(self, query: PairsQuery) -> PairsView:
        """Every pair of systems."""
        return from_message(await self._ask("GetPairs", query), PairsView)

    async def advice(self, query: AdviceQuery) -> AdviceView:
        """Which battles to run next."""
        return from_message(await self._ask("GetAdvice", query), AdviceView)

    async def timeline(self, query: TimelineQuery) -> TimelineView:
        """Ratings over time."""
        return from_message(await self._ask("GetTimeline", query), TimelineView)

    async def agreement(self, query: AgreementQuery) -> AgreementView:
        """How far the lenses agree."""
        return from_message(await self._ask("GetAgreement", query), AgreementView)

    async def _ask(self, method: str, query: QueryParameters) -> Any:
        """Call a method of the contract, whose request is named after it."""
        call = getattr(ratings_pb2_grpc.RatingsStub(self.channel), method)
        request = to_message(query, getattr(ratings_pb2, f"{method}Request"))
        try:
            metadata = None if self.sign is None else ((HEADER, await self.sign()),)
            return await call(request, timeout=self.deadline, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            words = own_words(error)
            if error.code() is grpc.StatusCode.INVALID_ARGUMENT and words is not None:
                raise InvalidQuery([words or "not valid"]) from error
            raise as_stage_error(error, "the rater") from error
