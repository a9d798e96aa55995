"""What every gRPC server here does: health, reflection, a port of its own, and an orderly end."""

import asyncio

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from nuggetstream.domain.failure import Reason
from services.indexer.grpc_service import embedding_service
from services.runtime import rpc, rpc_errors
from services.runtime.errors import InvalidInput, Outage, Retryable, Unavailable
from services.runtime.masking import KnownSecrets
from services.runtime.rpc_errors import as_stage_error
from services.wire.embedding_client import GrpcEmbedder
from tests.fakes import WordVectors

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
EMBEDDING = "arena.v1.Embedding"


def service() -> rpc.Register:
    return embedding_service(WordVectors(), WordVectors())


@pytest.mark.parametrize("name", ["", EMBEDDING])
async def test_a_server_is_serving_until_it_is_left(name: str) -> None:
    watching = asyncio.Event()

    async def watch(port: int) -> list[int]:
        async with rpc.channel(f"127.0.0.1:{port}") as channel:
            request = health_pb2.HealthCheckRequest(service=name)
            seen = []
            async for reply in health_pb2_grpc.HealthStub(channel).Watch(request):
                seen.append(reply.status)
                watching.set()
                if reply.status == NOT_SERVING:
                    break
            return seen

    async with rpc.serve("127.0.0.1:0", [service()]) as port:
        watcher = asyncio.create_task(watch(port))
        await asyncio.wait_for(watching.wait(), 90)
    assert await asyncio.wait_for(watcher, 90) == [SERVING, NOT_SERVING]


async def test_a_service_nobody_added_has_no_health() -> None:
    async with rpc.serve("127.0.0.1:0", []) as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service=EMBEDDING))
    assert raised.value.code() is grpc.StatusCode.NOT_FOUND


async def test_reflection_lists_every_service() -> None:
    async with rpc.serve("127.0.0.1:0", [service()]) as port, rpc.channel(f"127.0.0.1:{port}") as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        call = stub.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=90
        )
        (reply,) = [reply async for reply in call]
    names = {found.name for found in reply.list_services_response.service}
    assert names == {EMBEDDING, "grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"}


async def test_a_port_that_is_taken_is_an_error_of_the_system() -> None:
    async with rpc.serve("127.0.0.1:0", []) as port:
        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}"):
            async with rpc.serve(f"127.0.0.1:{port}", []):
                pass


async def test_a_call_in_flight_is_finished_when_the_server_is_left() -> None:
    started, go = asyncio.Event(), asyncio.Event()

    class Slow(WordVectors):
        async def embed(self, texts):
            started.set()
            await go.wait()
            return await super().embed(texts)

    async with rpc.serve("127.0.0.1:0", [embedding_service(Slow(), Slow())]) as port:
        client = GrpcEmbedder(f"127.0.0.1:{port}", "words")
        call = asyncio.create_task(client.embed(["tea"]))
        await asyncio.wait_for(started.wait(), 90)
        asyncio.get_running_loop().call_later(0.05, go.set)
    assert (await call).shape == (1, 64)
    await client.close()


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        (grpc.StatusCode.INVALID_ARGUMENT, InvalidInput, Reason.INVALID_INPUT),
        (grpc.StatusCode.UNAVAILABLE, Outage, Reason.DEADLINE),
        (grpc.StatusCode.DEADLINE_EXCEEDED, Unavailable, Reason.DEADLINE),
        (grpc.StatusCode.UNKNOWN, Retryable, Reason.BUG),
        (grpc.StatusCode.INTERNAL, Retryable, Reason.BUG),
        (grpc.StatusCode.UNIMPLEMENTED, Retryable, Reason.BUG),
    ],
)
def test_a_failed_call_says_whose_fault_it_is_and_whether_waiting_helps(
    code: grpc.StatusCode, kind: type, reason: Reason
) -> None:
    metadata = grpc.aio.Metadata()
    failed = grpc.aio.AioRpcError(code, metadata, metadata, "Traceback: s3cret")
    error = as_stage_error(failed, "the indexer", "indexer:7102")
    assert type(error) is kind
    assert error.reason is reason
    assert error.detail.startswith("the indexer ")
    assert "s3cret" not in str(error)
    assert error.admin_detail == "indexer:7102: Traceback: s3cret"


async def test_words_that_a_service_chose_are_shown_and_known_secrets_are_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Refusing(WordVectors):
        async def embed(self, texts):
            if texts[0] == "tea":
                raise Outage(Reason.STORE_UNAVAILABLE, "no tea with s3cret-key", admin_detail="teapot:5432")
            raise InvalidInput("there is no coffee")

    known = KnownSecrets()
    known.remember("s3cret-key")
    monkeypatch.setattr(rpc_errors, "KNOWN", known)
    async with rpc.serve("127.0.0.1:0", [embedding_service(Refusing(), Refusing())]) as port:
        client = GrpcEmbedder(f"127.0.0.1:{port}", "words")
        with pytest.raises(Outage) as away:
            await client.embed(["tea"])
        with pytest.raises(InvalidInput, match="the indexer: there is no coffee"):
            await client.embed(["coffee"])
        await client.close()
    assert away.value.detail == "the indexer does not answer: UNAVAILABLE no tea with ***"
    assert "teapot" not in f"{away.value.for_operators}"
