"""Wrap the handler of a gRPC method, whatever it takes and returns."""

from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from inspect import isawaitable
from typing import Any

import grpc

Context = grpc.aio.ServicerContext[Any, Any]
Call = Callable[[Any, Any, Context], Awaitable[Any]]
Stream = Callable[[Any, Any, Context], AsyncIterator[Any]]


def rewrapped(handler: Any, call: Call, stream: Stream, *, deserializer: Any = None) -> Any:
    """A handler that is called through a function.

    Args:
        handler: The handler of a method.
        call: Called with the method, the request and the context where the method has one reply.
        stream: As `call`, where it has a stream of replies.
        deserializer: Parses requests in place of the handler's own.
    """
    parse = deserializer or handler.request_deserializer
    if handler.response_streaming:
        wrap = grpc.stream_stream_rpc_method_handler if handler.request_streaming else (
            grpc.unary_stream_rpc_method_handler
        )  # fmt: skip
        method = handler.stream_stream if handler.request_streaming else handler.unary_stream

        async def streamed(request: Any, context: Context) -> AsyncIterator[Any]:
            async for response in stream(partial(_replies, method), request, context):
                yield response

        return wrap(streamed, parse, handler.response_serializer)
    wrap = grpc.stream_unary_rpc_method_handler if handler.request_streaming else (
        grpc.unary_unary_rpc_method_handler
    )  # fmt: skip
    method = handler.stream_unary if handler.request_streaming else handler.unary_unary

    async def called(request: Any, context: Context) -> Any:
        return await call(method, request, context)

    return wrap(called, parse, handler.response_serializer)


async def _replies(method: Any, request: Any, context: Context) -> AsyncIterator[Any]:
    """The replies of a method; none where it writes them to the context itself."""
    replies = method(request, context)
    if isawaitable(replies):
        await replies
        return
    async for response in replies:
        yield response
