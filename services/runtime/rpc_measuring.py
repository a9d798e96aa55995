"""Measures every gRPC call of a server by method and status."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from time import perf_counter
from typing import Any

import grpc

from services.runtime.metrics import RPC_SECONDS
from services.runtime.rpc_handlers import Context, wrapped


class MeasuredCalls(grpc.aio.ServerInterceptor):  # type: ignore[misc, unused-ignore]
    """Observes the duration of calls; not those of health and reflection, and not unknown methods."""

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:
        """The handler of a call, measured."""
        handler = await continuation(handler_call_details)
        method = handler_call_details.method.lstrip("/")
        if handler is None or method.startswith("grpc."):
            return handler
        return wrapped(handler, partial(_measured, method))


@asynccontextmanager
async def _measured(method: str, context: Context) -> AsyncIterator[None]:
    """Observe a block with the status that the call ends with."""
    started = perf_counter()
    kind: type[BaseException] | None = None
    try:
        yield
    except BaseException as error:
        kind = type(error)
        raise
    finally:
        RPC_SECONDS.labels(method, _status(context, kind)).observe(perf_counter() - started)


def _status(context: Context, kind: type[BaseException] | None) -> str:
    code = context.code()
    if isinstance(code, grpc.StatusCode):
        return code.name
    if code:  # an error that set a number
        return next((status.name for status in grpc.StatusCode if status.value[0] == code), "UNKNOWN")
    if kind is None or issubclass(kind, GeneratorExit):
        return "OK"
    return "CANCELLED" if not issubclass(kind, Exception) else "UNKNOWN"
