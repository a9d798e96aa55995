"""The client of the rater: each method makes one gRPC call and returns the JSON shape of the reply."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Any, TypeVar

import grpc
from arena.v1 import ratings_pb2_grpc
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from services.access.signing import HEADER
from services.gateway.errors import InvalidQuery
from services.gateway.ratings.query import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    TimelineQuery,
)
from services.runtime.rpc import DEADLINE
from services.runtime.rpc_errors import as_stage_error, own_words

# Field descriptors have two implementations (C and Python) without a common type.
FieldDescriptor = Any
R = TypeVar("R", bound=Message)


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
        response = await self._ask(self._stub.GetLeaderboard, query.message())
        return [BoardView.model_validate(plain(board)) for board in response.boards]

    @property
    def lenses(self) -> list[Lens]:
        """The lenses of a caller who names none."""
        return [self.nuggets if lens is Lens.NUGGET else lens for lens in INDEPENDENT]

    async def combined(self, query: CombinedQuery) -> CombinedView:
        """Human and automatic votes in one rating."""
        return CombinedView.model_validate(plain(await self._ask(self._stub.GetCombined, query.message())))

    async def pairs(self, query: PairsQuery) -> PairsView:
        """Every pair of systems."""
        return PairsView.model_validate(plain(await self._ask(self._stub.GetPairs, query.message())))

    async def advice(self, query: AdviceQuery) -> AdviceView:
        """Which battles to run next."""
        return AdviceView.model_validate(plain(await self._ask(self._stub.GetAdvice, query.message())))

    async def timeline(self, query: TimelineQuery) -> TimelineView:
        """Ratings over time."""
        return TimelineView.model_validate(plain(await self._ask(self._stub.GetTimeline, query.message())))

    async def agreement(self, query: AgreementQuery) -> AgreementView:
        """How far the lenses agree."""
        return AgreementView.model_validate(plain(await self._ask(self._stub.GetAgreement, query.message())))

    @property
    def _stub(self) -> Any:
        return ratings_pb2_grpc.RatingsStub(self.channel)

    async def _ask(self, call: Callable[..., Awaitable[R]], request: Message) -> R:
        try:
            metadata = None if self.sign is None else ((HEADER, await self.sign()),)
            return await call(request, timeout=self.deadline, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            words = own_words(error)
            if error.code() is grpc.StatusCode.INVALID_ARGUMENT and words is not None:
                raise InvalidQuery([words or "not valid"]) from error
            raise as_stage_error(error, "the rater") from error


def plain(message: Message) -> dict[str, Any]:
    """A message as plain values, without absent fields.

    >>> from arena.v1 import ratings_pb2
    >>> plain(ratings_pb2.Standing(system="x", battles=2, rank=1))
    {'system': 'x', 'rank': 1, 'battles': 2.0, 'wins': 0.0, 'losses': 0.0, 'ties': 0.0, 'provisional': False}
    """
    fields = [field for field in message.DESCRIPTOR.fields if _is_present(message, field)]
    return {field.name: _value(field, getattr(message, field.name)) for field in fields}


def _is_present(message: Message, field: FieldDescriptor) -> bool:
    return not field.has_presence or message.HasField(field.name)


def _value(field: FieldDescriptor, content: Any) -> Any:
    if field.is_repeated:
        return [_single(field, item) for item in content]
    return _single(field, content)


def _single(field: FieldDescriptor, content: Any) -> Any:
    if isinstance(content, Timestamp):
        return content.ToDatetime(tzinfo=UTC)
    if isinstance(content, Message):
        return plain(content)
    if field.enum_type is not None:
        prefix = field.enum_type.values_by_number[0].name.removesuffix("UNSPECIFIED")
        return field.enum_type.values_by_number[content].name.removeprefix(prefix).lower()
    return content
