"""The benchmark of real models is stopped when its time is over, and sums up the battles that ended."""

import asyncio
import gzip
import json
import sqlite3
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from benchmarks.offline_agreement import load
from benchmarks.real_model import evaluation
from services.offline.app import create_app
from services.offline.serve import running
from tests.asgi import read_again

MODEL = create_app(None)


def messages(body: bytes) -> list[dict[str, str]]:
    sent: list[dict[str, str]] = json.loads(body)["messages"]
    return sent


class Limited(subprocess.Popen[bytes]):
    """A process whose time is over as soon as a battle has ended."""

    out: Path

    def has_ended_one(self) -> bool:
        with suppress(sqlite3.OperationalError):  # its database is being made
            return bool(evaluation.ended_in(self.out))
        return False

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            return super().wait()
        until = time.monotonic() + timeout
        while not self.has_ended_one():
            assert self.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        raise subprocess.TimeoutExpired(self.args, timeout)


@pytest.mark.full
@pytest.mark.recorded
async def test_the_battles_that_ended_in_time_are_summed_up(
    tmp_path: Path, recorded_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = recorded_data / "crowdrag25"
    battles, out = tmp_path / "battles.jsonl.gz", tmp_path / "out"
    evaluation.sample(data / "battles.jsonl.gz", 2, battles)
    first, second = load(battles)

    async def answers_about_one_battle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        body = await Request(scope, receive).body()
        if any(second["query"] in message["content"] for message in messages(body)):
            # An error, for which its battle waits, and no silence: that would hold the only call at once.
            await PlainTextResponse("out of memory", 500)(scope, receive, send)
        else:
            await MODEL(scope, read_again(body, receive), send)

    monkeypatch.setattr(Limited, "out", out, raising=False)
    monkeypatch.setattr(subprocess, "Popen", Limited)
    async with running(answers_about_one_battle) as url:
        settings = {"LLM_BASE_URL": url, "LLM_API_KEY": "none", "LLM_MODEL": "m", "EMBEDDING_MODEL": "none"}
        variables = {f"NUGGETSTREAM_{name}": value for name, value in settings.items()}
        evaluated = await asyncio.to_thread(
            evaluation.evaluate, battles, data / "documents.jsonl.gz", out, variables, within=100.0
        )
    assert [row["id"] for row in evaluated.battles] == [first["battle_id"]]
    assert (evaluated.summary["scored"], evaluated.summary["failed"]) == (1, 0)
    with gzip.open(out / "ended.jsonl.gz", "rt", encoding="utf-8") as file:
        assert len(file.readlines()) == 1
