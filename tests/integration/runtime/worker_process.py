"""A process that runs one stage until it is told to stop: python worker_process.py URL MODE.

Modes: crash (dies when the job says "kill"), crash-decoding (dies while decoding it), hang (never answers),
slow (answers when asked to stop), share (as slow, but answers with its process id and fetches nothing ahead),
deaf (ignores that).
"""

import asyncio
import os
import sys
from collections.abc import Sequence

from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.pipeline import Stage as StageName
from services.runtime.bus import Backoff, Bus, BusSettings, ConsumerSpec, Delivery, Outgoing
from services.runtime.lifecycle import run_until_signal
from services.runtime.runner import Runner
from services.runtime.stage import Stage

CONSUMER = ConsumerSpec(
    stream="JOBS",
    durable="assigner",
    subjects=("job.>",),
    dead_subject="dead.assigner",
    ack_wait=float(os.environ.get("ACK_WAIT", "5")),
    max_deliver=int(os.environ.get("MAX_DELIVER", "3")),
    backoff=Backoff(base=0.02, cap=1.0),
)


def give_up(message: str | None, failure: StageFailure) -> Sequence[str]:
    return [f"failed.{message}.{failure.reason.value}"] if message else []


def encode(text: str) -> Outgoing:
    subject = text if text.startswith("failed.") else "result.one"
    return Outgoing(subject, derived_id("result", text), "test.Result", text.encode())


def stage_of(mode: str, bus: Bus, stop: asyncio.Event) -> Stage[str, str]:
    def decode(_: Delivery, body: bytes) -> str:
        if mode == "crash-decoding" and body == b"kill":
            os._exit(9)
        return body.decode()

    async def handle(text: str) -> list[str]:
        await bus.core_publish("started", text.encode())
        if mode == "crash" and text == "kill":
            os._exit(9)
        if mode == "hang":
            await asyncio.Event().wait()
        if mode in ("slow", "share"):
            await stop.wait()
        return [f"{text} by {os.getpid()}" if mode == "share" else text]

    prefetch = 0 if mode == "share" else None
    return Stage(
        name=StageName.ASSIGNER,
        consumer=CONSUMER,
        decode=decode,
        handle=handle,
        encode=encode,
        give_up=give_up,
        concurrency=2,
        prefetch=prefetch,
    )


async def main(stop: asyncio.Event) -> None:
    url, mode = sys.argv[1:3]
    grace = 0.3 if mode == "hang" else 10.0
    if mode == "deaf":
        stop = asyncio.Event()
    async with Bus.connect(BusSettings(servers=(url,), name=mode)) as bus:
        await bus.core_publish("hello", mode.encode())
        await Runner(bus, stage_of(mode, bus, stop), grace=grace).run(stop)


if __name__ == "__main__":
    raise SystemExit(asyncio.run(run_until_signal(main, grace=15.0)))
