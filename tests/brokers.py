"""One nats-server for all tests of a process, without any stream at the start of each."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nats

from services.runtime.nats_server import NatsServer


@dataclass(frozen=True)
class Broker:
    """Where to connect. A test that stops or suspends a nats-server takes `nats_server`, one of its own."""

    url: str


@contextmanager
def shared_broker(folder: Path) -> Iterator[Broker]:
    """A nats-server that outlives the event loops of tests: it belongs to a loop in a thread of its own."""
    url: Future[str] = Future()
    over = threading.Event()

    async def serve() -> None:
        try:
            async with NatsServer(folder, name="shared") as server:
                url.set_result(server.url)
                await asyncio.to_thread(over.wait)
        except BaseException as error:
            if url.done():
                raise
            url.set_exception(error)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), name="shared nats-server")
    thread.start()
    try:
        yield Broker(url.result())
    finally:
        over.set()
        thread.join()


async def delete_streams(broker: Broker) -> None:
    """Leave nothing of a test behind: streams go, and their consumers with them."""
    connection = await nats.connect(broker.url)
    try:
        js = connection.jetstream()
        for stream in await js.streams_info():
            await js.delete_stream(str(stream.config.name))
    finally:
        await connection.close()
