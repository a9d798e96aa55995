"""Measures every gRPC call of a server by method and status."""

from collections.abc import AsyncIterator, Awaitable, Callable
from time import perf_counter
from typing import Any

import grpc

from services.runtime.metrics import RPC_SECONDS


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
        if handler.response_streaming:
            wrap = grpc.stream_stream_rpc_method_handler if handler.request_streaming else (
                grpc.unary_stream_rpc_method_handler
            )  # fmt: skip
            inner = handler.stream_stream if handler.request_streaming else handler.unary_stream
            measured: Any = _measured_stream(method, inner)
        else:
            wrap = grpc.stream_unary_rpc_method_handler if handler.request_streaming else (
                grpc.unary_unary_rpc_method_handler
            )  # fmt: skip
            inner = handler.stream_unary if handler.request_streaming else handler.unary_unary
            measured = _measured_unary(method, inner)
        return wrap(measured, handler.request_deserializer, handler.response_serializer)


def _measured_unary(method: str, inner: Any) -> Any:
    async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:
        with _Timed(method, context):
            return await inner(request, context)

    return call


def _measured_stream(method: str, inner: Any) -> Any:
    async def call(request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> AsyncIterator[Any]:
        with _Timed(method, context):
            async for response in inner(request, context):
                yield response

    return call


class _Timed:
    """Observes a block with the status that the call ends with."""

    def __init__(self, method: str, context: grpc.aio.ServicerContext[Any, Any]) -> None:
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
