"""Measures every gRPC call of a server by method and status."""

from collections.abc import AsyncIterator, Awaitable, Callable
from time import perf_counter
from typing import Any

import grpc

from services.runtime.metrics import RPC_SECONDS
from services.runtime.rpc_handlers import Context, rewrapped


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

        async def call(inner: Any, request: Any, context: Context) -> Any:
            with _Timed(method, context):
                return await inner(request, context)

        async def stream(inner: Any, request: Any, context: Context) -> AsyncIterator[Any]:
            with _Timed(method, context):
                async for response in inner(request, context):
                    yield response

        return rewrapped(handler, call, stream)


class _Timed:
    """Observes a block with the status that the call ends with."""

    def __init__(self, method: str, context: Context) -> None:
        self._method, self._context = method, context
        self._started = perf_counter()

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        RPC_SECONDS.labels(self._method, self._status(kind)).observe(perf_counter() - self._started)

    def _status(self, kind: type[BaseException] | None) -> str:
        code = self._context.code()
        if isinstance(code, grpc.StatusCode):
            return code.name
        if code:  # an error that set a number
            return next((known.name for known in grpc.StatusCode if known.value[0] == code), "UNKNOWN")
        if kind is None or issubclass(kind, GeneratorExit):
            return "OK"
        return "CANCELLED" if not issubclass(kind, Exception) else "UNKNOWN"
