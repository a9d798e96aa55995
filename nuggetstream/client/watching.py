"""Following one battle or many: the part of both clients that reads server-sent events."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import TypeVar, Unpack

import httpx2

from nuggetstream.client.errors import Unavailable
from nuggetstream.client.feeds import MAX_EVENT_BYTES, SILENCE, Feed
from nuggetstream.client.following import Following, Watched
from nuggetstream.client.options import StreamOptions, params_of
from nuggetstream.client.patience import Patience
from nuggetstream.client.streaming import Streamed, Streaming

T = TypeVar("T")


class Watching:
    """Follows battles."""

    _http: httpx2.Client
    _patience: float
    _timeout: float

    def watch(self, battle_id: str, after: int = 0) -> Iterator[Watched]:
        """Follow a battle until it has ended.

        A stream that breaks is resumed after the event seen last: none is lost and none comes twice.

        Args:
            battle_id: The battle.
            after: Number of an event seen earlier; only what came after it follows.

        Returns:
            `Happened` for every event, from the first one on, then `Ended`. Nothing at all where the battle
            has ended with event `after`.

        Raises:
            NotFound: There is no such battle.
            Invalid: There is no event `after`.
            Unavailable: The stream broke and could not be resumed within the client's patience.
        """
        return self._read(Following.of(battle_id, after, Patience(self._patience)))

    def stream(self, after: int | None = None, **options: Unpack[StreamOptions]) -> Iterator[Streamed]:
        """Follow all battles that a filter selects, without an end.

        A stream that breaks is resumed: none is lost, and none comes twice from the same call.

        Args:
            after: Position of an event seen earlier; what was recorded since follows first. None for
                events to come alone.
            options: Which events, see `StreamOptions`.

        Returns:
            Events in the order in which they were recorded.

        Raises:
            Invalid: A filter is wrong.
            Forbidden: The key has no right to the arena.
            Unavailable: The stream broke and could not be resumed within the client's patience.
        """
        return self._read(Streaming.of(params_of(options), after, Patience(self._patience)))

    def _read(self, feed: Feed[T]) -> Iterator[T]:
        while not feed.over:
            why: httpx2.TransportError | Unavailable | None = None
            try:
                yield from self._received(feed)
            except (httpx2.TransportError, Unavailable) as error:
                why = error
            if not feed.over:
                time.sleep(feed.lost(why))

    def _received(self, feed: Feed[T]) -> Iterator[T]:
        with self._http.sse(
            feed.path,
            params=feed.params,
            headers=feed.headers,
            timeout=httpx2.Timeout(self._timeout, read=SILENCE),
            max_event_size=MAX_EVENT_BYTES,
        ) as source:
            if not source.response.is_success:
                source.response.read()
            if feed.opened(source.response):
                for sent in source:
                    if (received := feed.received(sent)) is not None:
                        yield received


class AsyncWatching:
    """Follows battles, see `Watching`."""

    _http: httpx2.AsyncClient
    _patience: float
    _timeout: float

    async def watch(self, battle_id: str, after: int = 0) -> AsyncIterator[Watched]:
        """Follow a battle until it has ended, see `Client.watch`."""
        async for watched in self._read(Following.of(battle_id, after, Patience(self._patience))):
            yield watched

    async def stream(
        self, after: int | None = None, **options: Unpack[StreamOptions]
    ) -> AsyncIterator[Streamed]:
        """Follow all battles that a filter selects, without an end, see `Client.stream`."""
        async for streamed in self._read(Streaming.of(params_of(options), after, Patience(self._patience))):
            yield streamed

    async def _read(self, feed: Feed[T]) -> AsyncIterator[T]:
        while not feed.over:
            why: httpx2.TransportError | Unavailable | None = None
            try:
                async for received in self._received(feed):
                    yield received
            except (httpx2.TransportError, Unavailable) as error:
                why = error
            if not feed.over:
                await asyncio.sleep(feed.lost(why))

    async def _received(self, feed: Feed[T]) -> AsyncIterator[T]:
        async with self._http.sse(
            feed.path,
            params=feed.params,
            headers=feed.headers,
            timeout=httpx2.Timeout(self._timeout, read=SILENCE),
            max_event_size=MAX_EVENT_BYTES,
        ) as source:
            if not source.response.is_success:
                await source.response.aread()
            if feed.opened(source.response):
                async for sent in source:
                    if (received := feed.received(sent)) is not None:
                        yield received
