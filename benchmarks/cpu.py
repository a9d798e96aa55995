"""What a battle costs the processor when the model answers at once, and whether that grows.

    python -m benchmarks.cpu [--scale small|medium|full] [--json FILE]

Runs `nuggetstream eval` on files of growing size, each in a process of its own, against the offline model in
another process, with ten given sources per battle and no embedding. The cost of starting is measured with a
file of a few battles and taken off. In the same run, as the floor: the calls to the model made with the plain
openai client, and the hops between services made with plain nats-py, both of the same size.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import nats
import openai
from nats.js.api import StreamConfig

from services.runtime.nats_server import NatsServer

GOAL, FIRST_GOAL = 0.020, 0.060  # seconds of processor time per battle
FLAT = 1.25  # largest growth from the smallest to the largest size that still counts as none
SCALES = {"small": (4, 12), "medium": (20, 120, 600), "full": (20, 100, 1_000, 10_000)}
CALLS, HOPS, HOP_BYTES = 5, 8, 20_000  # per battle, as `eval` makes them in the live profile
_SHOWN = 0.0002  # seconds a battle; smaller parts are not listed
_SOURCES, _SENTENCES, _ANSWER = 5, 13, 9  # per answer; about 1,170 characters a source
_WORDS = (
    "river", "stone", "market", "light", "engine", "theory", "harvest", "signal", "bridge", "winter",
    "copper", "island", "voltage", "garden", "temple", "orbit", "enzyme", "ledger", "canyon", "sulphur",
)  # fmt: skip


@dataclass(frozen=True)
class Cost:
    """Processor seconds per battle at one size, also by part (stage or package), and the memory."""

    battles: int
    own: float
    broker: float
    peak_mb: float
    parts: dict[str, float]


def write_battles(path: Path, count: int, seed: int = 7) -> None:
    """Battles of two answers with five given sources each, the same for the same seed."""
    rng = random.Random(seed)

    def text(sentences: int) -> str:
        return " ".join(" ".join(rng.choices(_WORDS, k=12)).capitalize() + "." for _ in range(sentences))

    def answer(battle: int, side: str) -> dict[str, Any]:
        sources = [
            {"url": f"https://{side}{battle}-{n}.example/", "title": f"Page {n}", "text": text(_SENTENCES)}
            for n in range(_SOURCES)
        ]
        return {"system": f"{side}{battle % 5}", "text": text(_ANSWER), "sources": sources}

    with path.open("w") as file:
        for battle in range(count):
            query = f"What about {rng.choice(_WORDS)} {battle}?"
            row = {"query": query, "a": answer(battle, "a"), "b": answer(battle, "b"), "vote": "a"}
            file.write(json.dumps(row) + "\n")


def offline_model(*options: str) -> AbstractContextManager[str]:
    """The offline model in a process of its own, with options of its command; its base URL."""
    return serving_model("-m", "services.cli.main", "offline-model", *options)


@contextmanager
def serving_model(*arguments: str) -> Iterator[str]:
    """A Python process that serves a model at the port it is given; yields its base URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, *arguments, "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        url = f"http://127.0.0.1:{port}/v1"
        asyncio.run(_answering(url))
        yield url
    finally:
        process.terminate()
        process.wait()


async def _answering(url: str) -> None:
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        async with asyncio.timeout(60):
            while True:
                try:
                    await _ask(client, "Why?")
                except openai.APIConnectionError:
                    await asyncio.sleep(0.1)
                except openai.APIStatusError:
                    return
                else:
                    return


async def _ask(client: openai.AsyncOpenAI, text: str) -> None:
    await client.chat.completions.create(
        model="offline-heuristic", messages=[{"role": "user", "content": text}], max_tokens=10
    )


def measure(count: int, model: str, folder: Path) -> dict[str, Any]:
    """Evaluate so many battles; what `cpu_child` reports, with the seconds it took.

    Raises:
        SystemExit: `eval` exited with another status than 0; the message has its standard error.
    """
    battles, report = folder / f"{count}.jsonl", folder / f"{count}.json"
    write_battles(battles, count)
    environment = {
        "NUGGETSTREAM_LLM_BASE_URL": model,
        "NUGGETSTREAM_LLM_API_KEY": "none",
        "NUGGETSTREAM_LLM_MODEL": "offline-heuristic",
        "NUGGETSTREAM_EMBEDDING_MODEL": "none",
    }
    command = [sys.executable, "-m", "benchmarks.cpu_child", str(report), "eval", str(battles)]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, "--out", str(folder / f"out{count}")],
        env={**os.environ, **environment}, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        encoding="utf-8", errors="replace",
    )  # fmt: skip
    if done.returncode != 0:
        raise SystemExit(f"eval of {count} battles exited with status {done.returncode}:\n{done.stderr}")
    numbers: dict[str, Any] = json.loads(report.read_text())
    return numbers | {"seconds": time.perf_counter() - began}


def cost(start: dict[str, Any], start_count: int, run: dict[str, Any], count: int) -> Cost:
    """Cost per battle of a run beyond a run of a few battles, which pays for starting."""
    more = count - start_count
    before, after = start["parts"], run["parts"]
    parts = {name: (after.get(name, 0.0) - before.get(name, 0.0)) / more for name in before | after}
    return Cost(
        battles=count,
        own=(run["own"] - start["own"]) / more,
        broker=(run["broker"] - start["broker"]) / more,
        peak_mb=run["peak_mb"],
        parts=dict(sorted(parts.items(), key=lambda item: -item[1])),
    )


async def floor_of_calls(url: str, repeats: int = 40) -> float:
    """Processor seconds of the plain openai client for the calls of one battle."""
    text = "x " * 6_000
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def ask() -> None:
            # The offline model answers only our prompts; a refusal costs the client the same.
            with suppress(openai.APIStatusError):
                await _ask(client, text)

        await ask()
        began = time.process_time()
        for _ in range(repeats):
            await asyncio.gather(*(ask() for _ in range(CALLS)))
        return (time.process_time() - began) / repeats


async def floor_of_hops(folder: Path, repeats: int = 100) -> float:
    """Processor seconds of plain nats-py to publish, pull and ack the messages of one battle."""
    body = b"x" * HOP_BYTES
    async with NatsServer(folder / "nats") as server:
        client = await nats.connect(server.url)
        js = client.jetstream()
        await js.add_stream(StreamConfig(name="FLOOR", subjects=["floor"]))
        pull = await js.pull_subscribe("floor", "floor")
        began = time.process_time()
        for _ in range(repeats):
            for _ in range(HOPS):
                await js.publish("floor", body)
            for message in await pull.fetch(HOPS, timeout=10):
                await message.ack()
        used = (time.process_time() - began) / repeats
        await client.close()
        return used


def show(costs: Sequence[Cost], calls: float, hops: float) -> list[str]:
    """The table, and the goals that were missed."""
    print(f"{'battles':>8}  {'ms a battle':>11}  {'broker, ms':>10}  {'peak, MB':>8}")
    for each in costs:
        print(
            f"{each.battles:>8,}  {1000 * each.own:>11.1f}  {1000 * each.broker:>10.1f}  {each.peak_mb:>8.0f}"
        )
    last = costs[-1]
    floor = calls + hops
    print(
        f"\nfloor: {1000 * calls:.1f} ms for {CALLS} calls (openai), "
        f"{1000 * hops:.1f} ms for {HOPS} hops (nats-py)"
    )
    print(f"ours is {last.own / floor:.1f} times the floor\n")
    print("ms a battle, by stage, or by package where a step works on no message:")
    for name, seconds in last.parts.items():
        if seconds >= _SHOWN:
            print(f"  {1000 * seconds:>6.1f}  {name}")
    missed = []
    if last.own > FIRST_GOAL:
        missed.append(
            f"a battle takes {1000 * last.own:.0f} ms of processor time; the goal is {1000 * FIRST_GOAL:.0f}"
        )
    if len(costs) > 1 and (growth := last.own / costs[0].own) > FLAT:
        missed.append(
            f"a battle takes {growth:.2f} times as long among {last.battles:,} as among {costs[0].battles:,}"
        )
    return missed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scale", choices=SCALES, default="medium")
    parser.add_argument("--json", type=Path, help="write the numbers to this file, too")
    given = parser.parse_args()
    few, *sizes = SCALES[given.scale]
    with tempfile.TemporaryDirectory() as temporary, offline_model() as model:
        folder = Path(temporary)
        start = measure(few, model, folder)
        costs = [cost(start, few, measure(size, model, folder), size) for size in sizes]
        calls, hops = asyncio.run(floor_of_calls(model)), asyncio.run(floor_of_hops(folder))
    missed = show(costs, calls, hops)
    if given.json:
        numbers = {"costs": [asdict(each) for each in costs], "calls": calls, "hops": hops, "missed": missed}
        given.json.write_text(json.dumps(numbers, indent=1))
    print(*(f"missed: {goal}" for goal in missed), sep="\n")
    raise SystemExit(1 if missed else 0)


if __name__ == "__main__":
    main()
