"""A gRPC server closes connections that nobody needs and rejects calls beyond its limits."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import grpc
import pytest
from arena.v1 import retrieval_pb2, retrieval_pb2_grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.indexer.grpc_service import embedding_service
from services.runtime import rpc
from services.runtime.rpc_limits import RpcLimits
from tests.fakes import WordVectors

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])  # and empty settings
LIMITS = RpcLimits()
Reader = asyncio.StreamReader


class Slow(WordVectors):
    """A model that answers when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.go = asyncio.Event()
        self.waiting = asyncio.Queue[None]()

    async def embed(self, texts):
        self.waiting.put_nowait(None)
        await self.go.wait()
        return await super().embed(texts)


@asynccontextmanager
async def connected(port: int, sends: bytes) -> AsyncIterator[Reader]:
    """A connection that sends some bytes and then nothing."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sends)
    try:
        yield reader
    finally:
        writer.close()


async def closed(reader: Reader) -> bytes:
    """What a connection receives until the server closes it."""
    async with asyncio.timeout(60):
        try:
            return await reader.read()
        except ConnectionResetError:
            return b""


async def answered(watch: Any) -> bool:
    """Whether a stream brings anything."""
    try:
        return await watch.read() is not None
    except grpc.aio.AioRpcError:
        return False


@pytest.mark.parametrize("sends", [b"", b"PRI * HT"])
async def test_a_connection_that_does_not_speak_is_closed(sends: bytes) -> None:
    limits = replace(LIMITS, handshake=0.3)
    async with rpc.serve("127.0.0.1:0", [], limits=limits) as port, connected(port, sends) as reader:
        await closed(reader)


async def test_an_idle_connection_is_closed() -> None:
    limits = replace(LIMITS, idle=0.3)
    async with rpc.serve("127.0.0.1:0", [], limits=limits) as port, connected(port, PREFACE) as reader:
        assert await closed(reader)  # a farewell in HTTP/2


async def test_a_stream_is_not_idle_and_a_client_connects_again() -> None:
    limits = replace(LIMITS, idle=0.2)
    state = rpc.Health()
    request = health_pb2.HealthCheckRequest()
    async with (
        rpc.serve("127.0.0.1:0", [], 0.0, state, limits) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
        asyncio.timeout(60),
    ):
        watched = health_pb2_grpc.HealthStub(channel).Watch(request)
        assert (await watched.read()).status == health_pb2.HealthCheckResponse.SERVING
        async with connected(port, PREFACE) as other:  # as long as it takes to close an idle one
            await closed(other)
        await state.draining()
        assert (await watched.read()).status == health_pb2.HealthCheckResponse.NOT_SERVING
        watched.cancel()
        for _ in range(2):
            reply = await health_pb2_grpc.HealthStub(channel).Check(request, wait_for_ready=True)
            assert reply.status == health_pb2.HealthCheckResponse.NOT_SERVING
            async with connected(port, PREFACE) as other:
                await closed(other)


async def test_connections_beyond_the_limit_are_closed_and_the_others_are_served() -> None:
    limits = replace(LIMITS, connections=2)
    async with (
        rpc.serve("127.0.0.1:0", [], limits=limits) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
    ):
        health = health_pb2_grpc.HealthStub(channel)
        await health.Check(health_pb2.HealthCheckRequest())
        async with connected(port, PREFACE) as first:
            assert await first.read(1)  # its settings
            async with connected(port, PREFACE) as second:
                assert await closed(second) == b""
            await health.Check(health_pb2.HealthCheckRequest())


async def test_calls_beyond_the_limit_are_rejected_and_health_is_not() -> None:
    model = Slow()
    limits = replace(LIMITS, calls=2, streams=1)
    async with (
        rpc.serve("127.0.0.1:0", [embedding_service(model, model)], limits=limits) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
        asyncio.timeout(60),
    ):
        stub, health = retrieval_pb2_grpc.EmbeddingStub(channel), health_pb2_grpc.HealthStub(channel)
        request = retrieval_pb2.EmbedRequest(texts=["tea"])
        for _ in range(2):  # twice: what was rejected must not count as ended
            model.go.clear()
            calls = [asyncio.ensure_future(stub.Embed(request)) for _ in range(2)]
            for _ in calls:
                await model.waiting.get()
            for _ in range(3):
                with pytest.raises(grpc.aio.AioRpcError, match="there are 2 calls already") as caught:
                    await stub.Embed(request)
                assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            assert (await health.Check(health_pb2.HealthCheckRequest())).status
            model.go.set()
            assert [reply.dimensions for reply in await asyncio.gather(*calls)] == [64, 64]
            model.waiting = asyncio.Queue()


async def test_streams_beyond_the_limit_are_rejected_until_one_has_ended() -> None:
    limits = replace(LIMITS, streams=1)
    request = health_pb2.HealthCheckRequest()
    async with (
        rpc.serve("127.0.0.1:0", [], limits=limits) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
        asyncio.timeout(60),
    ):
        health = health_pb2_grpc.HealthStub(channel)
        first = health.Watch(request)
        await first.read()
        with pytest.raises(grpc.aio.AioRpcError, match="there are 1 streams already"):
            await health.Watch(request).read()
        first.cancel()
        while not await answered(health.Watch(request)):
            pass


async def test_eight_hundred_streams_fit_one_connection() -> None:
    request = health_pb2.HealthCheckRequest()
    async with (
        rpc.serve("127.0.0.1:0", [], grace=0.0) as port,
        rpc.channel(f"127.0.0.1:{port}") as channel,
        asyncio.timeout(60),
    ):
        health = health_pb2_grpc.HealthStub(channel)
        watches = [health.Watch(request) for _ in range(800)]
        replies = await asyncio.gather(*(watch.read() for watch in watches))
        assert {reply.status for reply in replies} == {health_pb2.HealthCheckResponse.SERVING}
        assert (await health.Check(request)).status == health_pb2.HealthCheckResponse.SERVING
        for watch in watches:
            watch.cancel()
