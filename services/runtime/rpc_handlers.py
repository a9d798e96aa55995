"""Wrap the handler of a gRPC method, whatever it takes and returns."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from inspect import isawaitable
from typing import Any

import grpc

Context = grpc.aio.ServicerContext[Any, Any]
Around = Callable[[Context], AbstractAsyncContextManager[None]]
Read = Callable[[Any, Context], Awaitable[Any]]


async def _as_it_is(request: Any, _: Context) -> Any:
    return request


def wrapped(handler: Any, around: Around, *, deserializer: Any = None, read: Read = _as_it_is) -> Any:
    """A handler whose calls happen inside a block.

    Args:
        handler: The handler of a method.
        around: Returns the block around one call.
        deserializer: Parses requests in place of the handler's own.
        read: Returns the request, or the stream of them, that the method gets for a parsed one.
    """
    parse = deserializer or handler.request_deserializer
    if handler.response_streaming:
        wrap = grpc.stream_stream_rpc_method_handler if handler.request_streaming else (
            grpc.unary_stream_rpc_method_handler
        )  # fmt: skip
        method = handler.stream_stream if handler.request_streaming else handler.unary_stream

        async def streamed(request: Any, context: Context) -> AsyncIterator[Any]:
            async with around(context):
                async for response in _replies(method, await read(request, context), context):
                    yield response

        return wrap(streamed, parse, handler.response_serializer)
    wrap = grpc.stream_unary_rpc_method_handler if handler.request_streaming else (
        grpc.unary_unary_rpc_method_handler
    )  # fmt: skip
    method = handler.stream_unary if handler.request_streaming else handler.unary_unary

    async def called(request: Any, context: Context) -> Any:
        async with around(context):
            return await method(await read(request, context), context)

    return wrap(called, parse, handler.response_serializer)


async def _replies(method: Any, request: Any, context: Context) -> AsyncIterator[Any]:
    """The replies of a method; none where it writes them to the context itself."""
    replies = method(request, context)
    if isawaitable(replies):
        await replies
        return
    async for response in replies:
        yield response
