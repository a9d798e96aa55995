"""How fast `nuggetstream up` accepts a stream of battles, and whether the recorder keeps up meanwhile.

    python -m benchmarks.intake [--scale small|full] [--json FILE]

Sends battles of 13 kB as NDJSON in one request to a platform in a process of its own, with the offline model
and without embedding, and waits for the last receipt. Meanwhile it asks the broker four times a second how
many events the recorder has not acked, and how long ago the oldest of them was published. The platform
reports its longest step of the event loop, during which no other request is answered.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import nats
from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

from benchmarks.cpu import write_battles

ACCEPT_GOAL, LAG_GOAL, STEP_GOAL = 20.0, 2.0, 0.1  # seconds
SCALES = {"small": 40, "full": 2_000}  # battles
_POLL = 0.25  # seconds
_BANNER = {"API": "", "NATS": "", "token": ""}


@dataclass(frozen=True, slots=True)
class Lag:
    """How far the recorder was behind at one moment: messages, and the age of the oldest in seconds."""

    messages: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a run measured.

    Attributes:
        battles: Number of battles sent.
        bytes: Size of the request.
        accepted: Number of battles with a receipt.
        seconds: From the first byte to the last receipt.
        lag_messages: Largest number of events that the recorder had not acked.
        lag_seconds: Largest age of such an event.
        step_wall: Longest step of the event loop by the clock, which includes waiting for a processor.
        step_cpu: Most processor time of one step of the event loop.
        step: Which step that was.
    """

    battles: int
    bytes: int
    accepted: int
    seconds: float
    lag_messages: int
    lag_seconds: float
    step_wall: float
    step_cpu: float
    step: str


@dataclass(frozen=True, slots=True)
class Platform:
    """A running platform: URL of the API, URL of the broker with its token."""

    url: str
    broker: str


@contextmanager
def platform(folder: Path, report: Path) -> Iterator[Platform]:
    """`nuggetstream up` in a process of its own, with the offline model and without embedding."""
    command = [sys.executable, "-m", "benchmarks.intake_child", str(report), "up"]
    ports = ["--http-port", "0", "--grpc-port", "0", "--metrics-port", "0"]
    process = subprocess.Popen(
        [*command, "--data-dir", str(folder), *ports],
        env={**os.environ, "NUGGETSTREAM_EMBEDDING_MODEL": "none", "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        yield _banner(process)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _banner(process: "subprocess.Popen[str]") -> Platform:
    """The addresses that the platform prints."""
    said = dict(_BANNER)
    for line in process.stdout or ():
        name, _, rest = line.partition(" ")
        if name in said:
            said[name] = rest.split()[0]
        if all(said.values()):
            token = Path(said["token"]).read_text(encoding="ascii").strip()
            host = said["NATS"].removeprefix("nats://")
            return Platform(said["API"].removesuffix("/openapi.json"), f"nats://{token}@{host}")
    raise RuntimeError("the platform did not start")


async def lag_of_recorder(js: JetStreamContext) -> Lag:
    """How far the recorder is behind now."""
    info = await js.consumer_info("ARENA", "recorder")
    messages = (info.num_pending or 0) + (info.num_ack_pending or 0)
    if not messages or info.ack_floor is None:
        return Lag(0, 0.0)
    try:
        oldest = await js.get_msg(
            "ARENA", seq=info.ack_floor.stream_seq + 1, subject="arena.v1.battle.>", next=True
        )
    except NotFoundError:
        return Lag(messages, 0.0)
    published = oldest.time or datetime.now(UTC)
    return Lag(messages, max(0.0, (datetime.now(UTC) - published).total_seconds()))


async def watch(broker: str, done: asyncio.Event) -> list[Lag]:
    """The recorder's lag, four times a second, until `done` is set."""
    client = await nats.connect(broker)
    lags = []
    while not done.is_set():
        lags.append(await lag_of_recorder(client.jetstream()))
        await asyncio.sleep(_POLL)
    await client.close()
    return lags


async def send(url: str, body: bytes) -> tuple[int, float]:
    """Send the battles in one request; the number of receipts, and the seconds until the last."""
    began, accepted = time.perf_counter(), 0
    headers = {"content-type": "application/x-ndjson"}
    async with (
        httpx2.AsyncClient(timeout=600) as http,
        http.stream("POST", f"{url}/v1/battles", content=body, headers=headers) as response,
    ):
        async for line in response.aiter_lines():
            accepted += "battle_id" in json.loads(line)
    return accepted, time.perf_counter() - began


async def measure(count: int) -> Numbers:
    """One run with so many battles."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, report = Path(temporary), Path(temporary) / "steps.json"
        write_battles(folder / "battles.jsonl", count)
        body = (folder / "battles.jsonl").read_bytes()
        with platform(folder / "data", report) as running:
            done = asyncio.Event()
            watching = asyncio.create_task(watch(running.broker, done))
            accepted, seconds = await send(running.url, body)
            done.set()
            lags = await watching
        steps: dict[str, Any] = json.loads(report.read_text())
    return Numbers(
        battles=count,
        bytes=len(body),
        accepted=accepted,
        seconds=seconds,
        lag_messages=max(lag.messages for lag in lags),
        lag_seconds=max(lag.seconds for lag in lags),
        step_wall=steps["wall"],
        step_cpu=steps["cpu"],
        step=steps["step"],
    )


def missed_goals(numbers: Numbers) -> list[str]:
    """The goals that a run missed, as sentences."""
    missed = []
    if numbers.accepted < numbers.battles:
        missed.append(f"{numbers.battles - numbers.accepted} battles were not accepted")
    if numbers.seconds > ACCEPT_GOAL:
        missed.append(f"accepting took {numbers.seconds:.1f} s; the goal is {ACCEPT_GOAL:.0f} s")
    if numbers.lag_seconds > LAG_GOAL:
        missed.append(f"the recorder was {numbers.lag_seconds:.1f} s behind; the goal is {LAG_GOAL:.0f} s")
    if numbers.step_cpu > STEP_GOAL:
        step = f"{1000 * numbers.step_cpu:.0f} ms ({numbers.step})"
        missed.append(f"a step of the event loop took {step}; the goal is {1000 * STEP_GOAL:.0f} ms")
    return missed


def show(numbers: Numbers) -> None:
    """Print the numbers."""
    kilobytes = numbers.bytes / numbers.battles / 1000
    rate = numbers.accepted / numbers.seconds
    print(f"accepted    {numbers.accepted:,} of {numbers.battles:,} battles of {kilobytes:.1f} kB")
    print(f"time        {numbers.seconds:.1f} s, {rate:.0f} battles a second")
    print(f"recorder    at most {numbers.lag_messages:,} events and {numbers.lag_seconds:.2f} s behind")
    wall, cpu = 1000 * numbers.step_wall, 1000 * numbers.step_cpu
    print(f"event loop  longest step {wall:.0f} ms by the clock, {cpu:.0f} ms of processor time")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    given = parser.parse_args(arguments)
    numbers = asyncio.run(measure(SCALES[given.scale]))
    missed = missed_goals(numbers)
    show(numbers)
    if given.json:
        given.json.write_text(json.dumps(asdict(numbers) | {"missed": missed}, indent=1))
    print(*(f"missed: {goal}" for goal in missed), sep="\n")
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
