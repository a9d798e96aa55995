"""Requests as methods of both clients: written once, answered at once by one and awaited by the other."""

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast, get_args, overload

from nuggetstream.client.calls import Call

P = ParamSpec("P")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Asking(ABC):
    """A client that waits for the reply to a request."""

    @abstractmethod
    def _ask(self, call: Call[T]) -> T: ...


class AsyncAsking(ABC):
    """A client whose requests are awaited."""

    @abstractmethod
    async def _ask(self, call: Call[T]) -> T: ...


class Request(Protocol[P, T_co]):
    """A method that returns the reply in `Client`, and an awaitable of it in `AsyncClient`."""

    @overload
    def __get__(self, client: Asking, owner: type | None = None) -> Callable[P, T_co]: ...
    @overload
    def __get__(
        self, client: AsyncAsking, owner: type | None = None
    ) -> Callable[P, Coroutine[Any, Any, T_co]]: ...


def request(describe: Callable[Concatenate[Any, P], Call[T]]) -> Request[P, T]:
    """Make a method that describes a request one that sends it.

    Args:
        describe: A method of a part of the clients; its docstring is for those who call them.
    """

    @functools.wraps(describe)
    def ask(client: Any, *args: P.args, **options: P.kwargs) -> Any:
        return client._ask(describe(client, *args, **options))

    signature = inspect.signature(describe)
    (reply,) = get_args(signature.return_annotation)
    vars(ask)["__signature__"] = signature.replace(return_annotation=reply)
    return cast(Request[P, T], ask)
