"""Requests in flight on the current connection."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

import nats.errors

T = TypeVar("T")


class RequestsInFlight:
    """Lets requests fail as soon as their connection is lost, instead of after their timeout."""

    def __init__(self) -> None:
        self._scopes: set[asyncio.Timeout] = set()

    async def answer(self, request: Awaitable[T]) -> T:
        """Await the answer to a request.

        Raises:
            nats.errors.StaleConnectionError: The connection was lost meanwhile.
        """
        scope = asyncio.timeout(None)
        self._scopes.add(scope)
        try:
            async with scope:
                return await request
        except TimeoutError as error:
            if scope.expired():
                raise nats.errors.StaleConnectionError from error
            raise  # the request's own
        finally:
            self._scopes.discard(scope)

    def fail(self) -> None:
        """Fail all requests in flight: their answers were sent to a connection that is lost."""
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            if not scope.expired():
                scope.reschedule(now)
