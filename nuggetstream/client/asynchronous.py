"""The client for programs that run on asyncio."""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx2

from nuggetstream.client import calls
from nuggetstream.client.administration import Administration
from nuggetstream.client.batches import Batches, submission
from nuggetstream.client.battles import Battles
from nuggetstream.client.calls import LOCAL, Call, Submission
from nuggetstream.client.crowd_studies import CrowdStudies
from nuggetstream.client.exchange import Pause, Step, Steps, exchange
from nuggetstream.client.patience import Patience
from nuggetstream.client.ratings import Ratings
from nuggetstream.client.requests import AsyncAsking
from nuggetstream.client.watching import AsyncWatching
from nuggetstream.client.webhooks import Webhooks
from nuggetstream.views.battles import (
    LineResult,
)

T = TypeVar("T")


class AsyncClient(Battles, Ratings, Administration, Webhooks, CrowdStudies, AsyncWatching, AsyncAsking):
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

    def __repr__(self) -> str:
        return f"AsyncClient({self._http.base_url!r})"  # hides a password

    async def aclose(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

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
