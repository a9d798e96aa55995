"""The client for programs that run on asyncio."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from types import TracebackType
from typing import Self, TypeVar, Unpack

import httpx2

from nuggetstream.client import calls
from nuggetstream.client.administration import AsyncAdministration
from nuggetstream.client.batches import Batches, submission
from nuggetstream.client.calls import LOCAL, Call, Submission
from nuggetstream.client.exchange import Pause, Step, Steps, exchange
from nuggetstream.client.frames import AsyncFrames
from nuggetstream.client.judges import AsyncJudgeChecks
from nuggetstream.client.options import (
    AdviceOptions,
    AgreementOptions,
    BattleOptions,
    BoardOptions,
    CombinedOptions,
    PairsOptions,
    StyleOptions,
    TimelineOptions,
)
from nuggetstream.client.patience import Patience
from nuggetstream.client.watching import AsyncWatching
from nuggetstream.client.webhooks import AsyncWebhookDesk
from nuggetstream.domain.battle import Vote
from nuggetstream.views.battles import (
    BattleSummary,
    BattleView,
    FailureView,
    LineResult,
    Submitted,
    VoteReceipt,
)
from nuggetstream.views.common import Health
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from nuggetstream.views.style import StyleBoardView

T = TypeVar("T")


class AsyncClient(AsyncAdministration, AsyncJudgeChecks, AsyncFrames, AsyncWebhookDesk, AsyncWatching):
    """A platform over its REST API, for asyncio. Arguments, results and errors are those of `Client`.

    Use it as an asynchronous context manager or call `aclose`. Tasks of one event loop may share it.
    """

    def __init__(
        self,
        url: str = LOCAL,
        *,
        timeout: float = 30.0,
        patience: float = 10.0,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._patience = patience
        self._timeout = timeout
        self._http = httpx2.AsyncClient(
            base_url=calls.base_url(url), headers=calls.headers_of(key, headers), transport=transport
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def submit(self, battle: Submission) -> Submitted:
        """Submit one battle, see `Client.submit`."""
        return await self._ask(calls.submit(battle))

    async def submit_and_wait(self, battle: Submission, seconds: float = 60.0) -> BattleView:
        """Submit one battle and wait for its end, see `Client.submit_and_wait`."""
        return await self._ask(calls.submit_and_wait(battle, seconds))

    async def submit_many(
        self, battles: Iterable[Submission] | AsyncIterable[Submission]
    ) -> AsyncIterator[LineResult]:
        """Submit any number of battles, see `Client.submit_many`; they may come asynchronously as well."""
        batches = Batches()
        async for battle in _asynchronous(battles):
            if lines := batches.add(battle):
                for result in await self._run(submission(lines, Patience(self._patience))):
                    yield result
        if lines := batches.rest():
            for result in await self._run(submission(lines, Patience(self._patience))):
                yield result

    async def vote(self, battle_id: str, vote: Vote | str) -> VoteReceipt:
        """Vote on a battle, see `Client.vote`."""
        return await self._ask(calls.vote(battle_id, vote))

    async def battle(self, battle_id: str) -> BattleView:
        """Read one battle as far as it has come, see `Client.battle`."""
        return await self._ask(calls.battle(battle_id))

    async def battles(
        self, arena: str | None = None, limit: int = 50, **options: Unpack[BattleOptions]
    ) -> list[BattleSummary]:
        """The battles received last, or those that wait most for a vote, see `Client.battles`."""
        return await self._ask(calls.battles(arena, limit, options))

    async def failures(
        self, arena: str | None = None, battle_id: str | None = None, limit: int = 50
    ) -> list[FailureView]:
        """Stages that gave up, newest first, see `Client.failures`."""
        return await self._ask(calls.failures(arena, battle_id, limit))

    async def leaderboard(self, arena: str = "default", **options: Unpack[BoardOptions]) -> list[BoardView]:
        """The leaderboards of an arena, one per lens, see `Client.leaderboard`."""
        return await self._ask(calls.leaderboard(arena, options))

    async def combined(self, arena: str = "default", **options: Unpack[CombinedOptions]) -> CombinedView:
        """Votes of people and automatic ones in one rating, beside each kind alone."""
        return await self._ask(calls.combined(arena, options))

    async def pairs(self, arena: str = "default", **options: Unpack[PairsOptions]) -> PairsView:
        """Every pair of systems: battles, wins, ties, and how far apart they are."""
        return await self._ask(calls.pairs(arena, options))

    async def advice(self, arena: str = "default", **options: Unpack[AdviceOptions]) -> AdviceView:
        """Battles still needed to tell neighbours apart, and those that narrow the intervals most."""
        return await self._ask(calls.advice(arena, options))

    async def timeline(self, arena: str = "default", **options: Unpack[TimelineOptions]) -> TimelineView:
        """Ratings of one lens over time."""
        return await self._ask(calls.timeline(arena, options))

    async def style(self, arena: str = "default", **options: Unpack[StyleOptions]) -> StyleBoardView:
        """Ratings with style held equal, see `Client.style`."""
        return await self._ask(calls.style(arena, options))

    async def agreement(self, arena: str = "default", **options: Unpack[AgreementOptions]) -> AgreementView:
        """How far the three lenses of an arena agree."""
        return await self._ask(calls.agreement(arena, options))

    async def ready(self) -> Health:
        """Whether the gateway can do its work, and if not, why."""
        return await self._ask(calls.ready())

    async def _ask(self, call: Call[T]) -> T:
        return await self._run(exchange(call, Patience(self._patience)))

    async def _run(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                try:
                    response = await self._carry_out(step)
                except httpx2.TransportError as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(response)
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def _carry_out(self, step: Step) -> httpx2.Response | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        return await self._http.send(self._http.build_request(**calls.arguments(step, self._timeout)))


async def _asynchronous(items: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item
