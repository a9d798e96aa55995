"""A small flow on a real broker: jobs come in as text, results and failures go out as text."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.bus import Backoff, Bus, ConsumerSpec, Notification, Outgoing, StreamSpec, ensure
from services.runtime.bus.pull import PullSettings
from services.runtime.nats_server import NatsServer
from services.runtime.runner import DeadLetter, Runner, advisory_stream
from services.runtime.stage import Delivery, Stage
from tests.brokers import Broker

STREAMS = (
    StreamSpec("JOBS", ("job.>",)),
    StreamSpec("RESULTS", ("result.>", "failed.>")),
    StreamSpec("DEAD", ("dead.>",)),
    advisory_stream(),
)
CONSUMER = ConsumerSpec(
    stream="JOBS",
    durable="assigner",
    subjects=("job.>",),
    dead_subject="dead.assigner",
    ack_wait=5.0,
    max_deliver=3,
    backoff=Backoff(base=0.02, cap=1.0),
)
Handle = Callable[[str], Awaitable[Sequence[str]]]


def decode(_: Delivery, body: bytes) -> str:
    return body.decode("utf-8")


def encode(text: str) -> Outgoing:
    subject = text if text.startswith("failed.") else "result.one"
    return Outgoing(subject, derived_id("result", text), "test.Result", text.encode())


def give_up(message: str | None, failure: StageFailure) -> Sequence[str]:
    return [f"failed.{message}.{failure.reason.value}"] if message else []


async def upper(text: str) -> list[str]:
    return [text.upper()]


class Ear:
    """Plain messages heard so far, in order."""

    def __init__(self) -> None:
        self.heard = 0
        self._queue: asyncio.Queue[Notification] = asyncio.Queue()

    async def hear(self, note: Notification) -> None:
        self.heard += 1
        self._queue.put_nowait(note)

    async def next(self, within: float = 30.0) -> Notification:
        return await asyncio.wait_for(self._queue.get(), within)

    async def take(self, count: int, within: float = 30.0) -> list[Notification]:
        async with asyncio.timeout(within):
            return [await self._queue.get() for _ in range(count)]

    def forget(self) -> None:
        while not self._queue.empty():
            self._queue.get_nowait()


@dataclass(frozen=True)
class Flow:
    """The broker with its streams, and ways to feed, run and watch a stage."""

    server: Broker | NatsServer
    bus: Bus
    consumer: ConsumerSpec = CONSUMER

    def stage(self, handle: Handle = upper, **changes: Any) -> Stage[str, str]:
        spec = {key: changes.pop(key) for key in ("ack_wait", "max_deliver", "backoff") if key in changes}
        consumer = replace(self.consumer, **spec)
        parts: dict[str, Any] = {"decode": decode, "encode": encode, "give_up": give_up, **changes}
        return Stage(name=StageName.ASSIGNER, consumer=consumer, handle=handle, **parts)

    async def submit(self, *texts: str | bytes) -> None:
        for number, text in enumerate(texts):
            body = text if isinstance(text, bytes) else text.encode()
            await self.bus.publish(
                Outgoing("job.one", derived_id("job", number, body.hex()), "test.Job", body)
            )

    @asynccontextmanager
    async def running(self, stage: Stage[Any, Any], **options: Any) -> AsyncIterator[Runner[Any, Any]]:
        """Run a stage beside the test; on leaving, stop it and see that it ended well."""
        await ensure(self.bus.js, (), (stage.consumer,))
        options.setdefault("pull", PullSettings(expires=2.0, heartbeat=0.5))
        stop = asyncio.Event()
        runner = Runner(self.bus, stage, **options)
        task = asyncio.create_task(runner.run(stop))
        try:
            yield runner
        finally:
            stop.set()
            await asyncio.wait_for(task, 90)

    @asynccontextmanager
    async def hearing(self, *subjects: str) -> AsyncIterator[Ear]:
        ear = Ear()
        async with _all(self.bus, subjects, ear):
            yield ear

    async def settled(self, durable: str = "assigner", stream: str = "JOBS") -> None:
        """Wait until everything in the stream had its last word.

        The server counts what is pending a moment after it has stored a message: what the consumer was
        given is compared with what the stream holds.
        """
        async with asyncio.timeout(90):
            while True:
                last = (await self.bus.js.stream_info(stream)).state.last_seq
                info = await self.bus.js.consumer_info(stream, durable)
                given = info.delivered.stream_seq if info.delivered else 0
                if given >= last and info.num_pending == 0 and info.num_ack_pending == 0:
                    return

    async def held(self) -> int:
        """Messages in somebody's hands."""
        info = await self.bus.js.consumer_info("JOBS", "assigner")
        return int(info.num_ack_pending or 0)

    async def holding(self, messages: int) -> None:
        """Wait until exactly so many are."""
        async with asyncio.timeout(90):
            while await self.held() != messages:
                await asyncio.sleep(0.01)

    async def count(self, stream: str) -> int:
        return (await self.bus.js.stream_info(stream)).state.messages

    async def dead_letters(self) -> list[DeadLetter]:
        kept = [await self.bus.js.get_msg("DEAD", seq + 1) for seq in range(await self.count("DEAD"))]
        return [DeadLetter.read(message.headers or {}, message.data or b"") for message in kept]

    @asynccontextmanager
    async def worker(self, mode: str, **variables: str) -> AsyncIterator[asyncio.subprocess.Process]:
        """A process that runs the stage, for what a process does when it ends."""
        script, root = Path(__file__).with_name("worker_process.py"), Path(__file__).parents[3]
        process = await asyncio.create_subprocess_exec(
            sys.executable, str(script), self.server.url, mode,
            env={**os.environ, "PYTHONPATH": str(root), **variables}, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        try:
            yield process
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


@asynccontextmanager
async def _all(bus: Bus, subjects: Sequence[str], ear: Ear) -> AsyncIterator[None]:
    if not subjects:
        yield
        return
    async with bus.core_subscribe(subjects[0], ear.hear), _all(bus, subjects[1:], ear):
        yield


@pytest.fixture
async def flow(server: Broker | NatsServer, bus: Bus) -> Flow:
    await ensure(bus.js, STREAMS, (CONSUMER,))
    return Flow(server, bus)
