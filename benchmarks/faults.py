"""Many battles against a model of whose calls one in five fails, in a process that is killed once.

    python -m benchmarks.faults [--battles 300] [--seed 11]

`nuggetstream eval` runs twice on the same file: against a model that never fails, and against one with every
fault that a real one has (429 with Retry-After, 500, timeout, broken connection, cut reply, invalid JSON, a
label that is missing or does not exist, refusal, content filter, empty reply). The second run is killed with
SIGKILL when a third of the calls are answered, and started again. "Paid" are calls that were answered with
200, whatever their worth.

Requests that were answered before the kill and again after it are counted by the time since the answer. A
useful answer may be paid again only if it came within the last second before the kill, so that it had not
reached the disk. Useless answers are not stored: one whose repair was in flight is asked for again.
"""

import argparse
import asyncio
import json
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nuggetstream.domain.identity import content_hash
from services.offline.app import create_app
from services.offline.faults import Faults, FaultSampler
from services.offline.serve import running
from tests.e2e.battles import battle
from tests.e2e.processes import clean_environment

RATES: dict[str, Any] = {
    "rate_limited": 0.03, "server_error": 0.04, "timeout": 0.01, "dropped": 0.02, "cut": 0.02,
    "invalid_json": 0.02, "wrong_count": 0.015, "unknown_label": 0.015, "empty": 0.01, "refusal": 0.01,
    "content_filter": 0.01,
}  # fmt: skip
LATENCY_S = 0.02
GOAL = 1.35  # paid calls, beside those of the run without faults
STORED_S = 1.0  # within which a reply is on disk
RESULT = ("nuggets", "nugget_verdict", "judgments")


@dataclass
class Endpoint:
    """A model that remembers when it answered which request with 200.

    Attributes:
        faults: The faults of the model.
        answers: Times at which a request was answered, and whether usefully, by the hash of the request.
        paid: Number of answers.
    """

    faults: Faults
    answers: dict[str, list[tuple[float, bool]]] = field(default_factory=dict)
    paid: int = 0
    model: ASGIApp = field(init=False)
    sampler: FaultSampler = field(init=False)

    def __post_init__(self) -> None:
        """Build the model, and what draws the same faults as it does."""
        self.model, self.sampler = create_app(None, self.faults), FaultSampler(self.faults)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.model(scope, receive, send)
            return
        body = await Request(scope, receive).body()
        useful = bool(body) and self.sampler.draw(body).fault is None
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Message:
            return unread.pop() if unread else await receive()

        async def noted(message: Message) -> None:
            await send(message)
            if message["type"] == "http.response.start" and message["status"] == 200:
                self.paid += 1
                self.answers.setdefault(content_hash(body.decode()), []).append((time.monotonic(), useful))

        await self.model(scope, again, noted)


@dataclass(frozen=True)
class Run:
    """One evaluation of the file.

    Attributes:
        rows: The results by battle.
        paid: Calls that were answered.
        asked_again: Seconds between an answer and the kill, and whether it was useful, for requests that were
            answered again after the kill.
    """

    rows: dict[str, dict[str, Any]]
    paid: int
    asked_again: Sequence[tuple[float, bool]] = ()


async def evaluated(folder: Path, file: Path, faults: Faults, kill_at: int | None = None) -> Run:
    """Evaluate the file; the process is killed after so many answers, and started again."""
    endpoint, killed_at = Endpoint(faults), None
    async with running(endpoint) as url:
        environment = clean_environment(
            embedding_model="none", llm_api_key="sk-test", llm_base_url=url, llm_model="m"
        )
        arguments = ["eval", str(file), "--out", str(folder)]
        child = await started(environment, arguments)
        if kill_at is not None:
            while endpoint.paid < kill_at and child.returncode is None:
                await asyncio.sleep(0.01)
            child.send_signal(signal.SIGKILL)
            await child.wait()
            killed_at = time.monotonic()
            child = await started(environment, arguments)
        if await child.wait() != 0:
            raise SystemExit("the evaluation failed")
    text = (folder / "results.jsonl").read_text(encoding="utf-8")
    rows = {row["id"]: row for row in map(json.loads, text.splitlines())}
    return Run(rows, endpoint.paid, repeated(endpoint.answers, killed_at))


def repeated(
    answers: dict[str, list[tuple[float, bool]]], killed_at: float | None
) -> list[tuple[float, bool]]:
    """How long before the kill a request was answered for the last time, if it was answered after it, too."""
    if killed_at is None:
        return []
    return [
        (killed_at - before[-1][0], before[-1][1])
        for times in answers.values()
        if (before := [each for each in times if each[0] < killed_at]) and len(before) < len(times)
    ]


async def started(environment: dict[str, str], arguments: Sequence[str]) -> asyncio.subprocess.Process:
    """The command in a process of its own."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "services.cli.main", *arguments, env=environment,
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip


def report(clean: Run, faulty: Run) -> tuple[list[str], bool]:
    """What came out, and whether all of it is as it must be."""
    failed = {name: row for name, row in faulty.rows.items() if row["failures"]}
    reasons = Counter(each.get("reason") for row in failed.values() for each in row["failures"])
    untouched = faulty.rows.keys() - failed.keys()
    different = [
        name for name in untouched if any(faulty.rows[name][key] != clean.rows[name][key] for key in RESULT)
    ]
    ended = sum(row["state"] != "running" for row in faulty.rows.values())
    ratio, useful = faulty.paid / clean.paid, [age for age, useful in faulty.asked_again if useful]
    late = [age for age in useful if age > STORED_S]
    lines = [
        f"{ended} of {len(clean.rows)} battles ended",
        f"{len(failed)} with a failure: {', '.join(f'{count} {name}' for name, count in reasons.items())}",
        f"{len(untouched)} without: {len(different)} of them score otherwise than without faults",
        f"paid calls: {faulty.paid} beside {clean.paid}, {ratio:.2f} times (at most {GOAL})",
        f"answered usefully before the kill and paid again after it: {len(useful)}, "
        f"of them {len(late)} more than {STORED_S:g} s before it",
        f"answered uselessly before it and paid again after it: {len(faulty.asked_again) - len(useful)}",
    ]
    good = ended == len(clean.rows) and None not in reasons and not different and ratio <= GOAL and not late
    return lines, good


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--battles", type=int, default=300)
    options.add_argument("--seed", type=int, default=11)
    chosen = options.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "battles.jsonl"
        file.write_text("".join(json.dumps(battle(n)) + "\n" for n in range(chosen.battles)))
        clean = asyncio.run(evaluated(folder / "clean", file, Faults(latency_s=LATENCY_S)))
        faults = Faults(seed=chosen.seed, latency_s=LATENCY_S, retry_after_s=0.01, hang_s=2.0, **RATES)
        faulty = asyncio.run(evaluated(folder / "faulty", file, faults, kill_at=clean.paid // 3))
    lines, good = report(clean, faulty)
    print(*lines, sep="\n")
    if not good:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
