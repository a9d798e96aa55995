"""How a service says that it is ready, and that it lives: over gRPC, and by the command."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from services.runtime import rpc
from services.runtime.bus import Bus, BusSettings, ensure
from services.runtime.nats_server import NatsServer
from services.runtime.service import Service, run_service
from tests.e2e.processes import clean_environment, run_command
from tests.integration.runtime.conftest import STREAMS, Flow

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING
READY = ""


async def ask(port: int, name: str, within: float = 5.0) -> int:
    async with rpc.channel(f"127.0.0.1:{port}") as channel:
        request = health_pb2.HealthCheckRequest(service=name)
        return int((await health_pb2_grpc.HealthStub(channel).Check(request, timeout=within)).status)


@asynccontextmanager
async def running(
    service: Service, bus: Bus, stop: asyncio.Event, callers_ended: asyncio.Event | None = None
) -> AsyncIterator[int]:
    port: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    run = run_service(service, bus, stop, ready=port.set_result, callers_ended=callers_ended)
    task = asyncio.create_task(run)
    try:
        yield await asyncio.wait_for(port, 90)
    finally:
        stop.set()
        await asyncio.wait_for(task, 90)


async def test_a_draining_service_is_not_ready_and_lives_while_it_finishes(flow: Flow) -> None:
    started, go, stop = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow(text: str) -> list[str]:
        started.set()
        await go.wait()
        return [text]

    async with running(Service("assigner", [flow.stage(slow)]), flow.bus, stop) as port:
        assert await ask(port, READY) == await ask(port, rpc.LIVE) == SERVING
        await flow.submit("tea")
        await asyncio.wait_for(started.wait(), 90)
        stop.set()
        async with asyncio.timeout(90):
            while await ask(port, READY) == SERVING:
                await asyncio.sleep(0.01)
        assert await ask(port, READY) == NOT_SERVING
        assert await ask(port, rpc.LIVE) == SERVING
        go.set()
    assert await flow.count("RESULTS") == 1


async def test_a_service_answers_its_callers_in_the_same_process_until_they_have_ended(flow: Flow) -> None:
    stop, drained, callers_ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def chore(stop: asyncio.Event) -> None:
        await stop.wait()
        drained.set()

    service = Service("indexer", background=[chore])
    async with running(service, flow.bus, stop, callers_ended) as port:
        stop.set()
        await asyncio.wait_for(drained.wait(), 90)
        assert await ask(port, READY) == SERVING
        callers_ended.set()


async def test_a_service_takes_work_and_is_ready_once_it_is_prepared(flow: Flow) -> None:
    prepared, order = asyncio.Event(), list[str]()

    async def prepare() -> None:
        await prepared.wait()
        order.append("prepared")

    async def handle(text: str) -> list[str]:
        order.append(text)
        return [text]

    async def chore(stop: asyncio.Event) -> None:
        order.append("chore")
        await stop.wait()

    service = Service("retriever", [flow.stage(handle)], first=[prepare], background=[chore])
    async with running(service, flow.bus, asyncio.Event()) as port:
        await flow.submit("tea")
        assert (await ask(port, READY), await ask(port, rpc.LIVE)) == (NOT_SERVING, SERVING)
        assert order == []
        prepared.set()
        async with asyncio.timeout(90):
            while await flow.count("RESULTS") == 0:
                await asyncio.sleep(0.01)
        assert await ask(port, READY) == SERVING
    assert order == ["prepared", "chore", "tea"]


async def test_a_service_that_is_stopped_while_it_prepares_ends_and_takes_no_work(flow: Flow) -> None:
    cancelled, chores = asyncio.Event(), list[bool]()

    async def prepare() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async def chore(stop: asyncio.Event) -> None:
        chores.append(stop.is_set())

    async def handle(text: str) -> list[str]:
        return [text]

    service = Service("retriever", [flow.stage(handle)], first=[prepare], background=[chore])
    async with running(service, flow.bus, asyncio.Event()):
        await flow.submit("tea")
    assert cancelled.is_set()
    assert chores == [True]
    assert await flow.count("RESULTS") == 0


async def test_a_preparation_that_fails_ends_the_service(flow: Flow) -> None:
    async def prepare() -> None:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as raised:
        await run_service(Service("retriever", first=[prepare]), flow.bus, asyncio.Event())
    assert raised.group_contains(ZeroDivisionError)


async def test_a_broker_that_is_away_is_no_death(nats_server: NatsServer) -> None:
    settings = BusSettings(servers=(nats_server.url,), reconnect_wait=0.05)
    async with Bus.connect(settings) as bus:
        await ensure(bus.js, STREAMS)
        async with running(Service("quiet"), bus, asyncio.Event()) as port:
            await nats_server.kill()
            async with asyncio.timeout(90):
                while bus.connected:
                    await asyncio.sleep(0.01)
            assert await ask(port, rpc.LIVE) == SERVING
            await nats_server.start()
            async with asyncio.timeout(90):
                while not bus.connected:
                    await asyncio.sleep(0.01)
            assert await ask(port, rpc.LIVE) == SERVING


async def test_a_loop_that_does_not_turn_cannot_say_that_it_lives() -> None:
    """The server's loop is another thread's, and something in it blocks."""
    ports: list[int] = []
    up, block, blocked, release = (threading.Event() for _ in range(4))

    async def serve() -> None:
        async with rpc.serve("127.0.0.1:0", []) as port:
            ports.append(port)
            up.set()
            while not block.is_set():
                await asyncio.sleep(0.01)
            blocked.set()
            release.wait(20)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        await asyncio.to_thread(up.wait, 10)
        assert await ask(ports[0], rpc.LIVE) == SERVING
        block.set()
        await asyncio.to_thread(blocked.wait, 10)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await ask(ports[0], rpc.LIVE, within=0.5)
        assert raised.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    finally:
        block.set()
        release.set()
        thread.join()


async def test_the_command_tells_a_container_runtime_what_the_service_says() -> None:
    state = rpc.Health()
    async with rpc.serve("127.0.0.1:0", [], state=state) as port:
        environment = clean_environment(service="judge", host="0.0.0.0")
        asked = ("health", "--grpc-port", str(port))
        assert await run_command(environment, *asked) == (0, "SERVING\n")
        await state.draining()
        code, output = await run_command(environment, *asked)
        assert (code, "NOT_SERVING" in output) == (1, True)
        assert (await run_command(environment, *asked, "--live"))[0] == 0
    code, output = await run_command(environment, *asked, "--live")
    assert code == 1
    assert "UNAVAILABLE" in output
