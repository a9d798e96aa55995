"""`nuggetstream eval --batch`: calls in batches, at half the price, and paid for once whatever happens."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from starlette.types import ASGIApp, Receive, Scope, Send

from services.offline.answers import ParsedPrompt, answer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.offline.requests import ChatRequest
from services.offline.serve import running
from tests.e2e.battles import battle
from tests.e2e.processes import IMPATIENT, clean_environment, run_command
from tests.forked import Forked, forked

BATTLES = 6
PRICES = "[models.m]\ninput = 1000\noutput = 2000\n"


@dataclass
class Provider:
    """A provider with batches.

    Attributes:
        faults: How it fails.
        answered: Number of answers, by prompt.
        paths: Number of requests, by method and path; an id in the path is left out.
        in_progress: Set once a batch was looked at.
    """

    faults: Faults
    answered: Counter[str] = field(default_factory=Counter)
    paths: Counter[str] = field(default_factory=Counter)
    in_progress: asyncio.Event = field(default_factory=asyncio.Event)
    app: ASGIApp = field(init=False)

    def __post_init__(self) -> None:
        self.app = create_app(None, self.faults, reply_to=self.reply)

    def reply(self, chat: ChatRequest) -> BaseModel:
        self.answered[chat.text] += 1
        return answer(chat.task, ParsedPrompt.read(chat.first_message("user"), None))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self.paths[f"{scope['method']} {'/'.join(scope['path'].split('/')[:3])}"] += 1
            if "/batches/batch_" in scope["path"]:
                self.in_progress.set()
        await self.app(scope, receive, send)


@dataclass
class Study:
    """A file of battles, and the command that evaluates it."""

    folder: Path
    environment: dict[str, str]

    @property
    def arguments(self) -> list[str]:
        return ["eval", str(self.folder / "battles.jsonl"), "--out", str(self.folder / "out"), "--batch"]

    def rows(self) -> list[dict[str, Any]]:
        text = (self.folder / "out" / "results.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def records(self) -> list[Path]:
        return list((self.folder / "out" / "state" / "batches").glob("*.json"))

    async def begin(self) -> Forked:
        return await forked(*self.arguments, environment=self.environment, module=IMPATIENT)


@asynccontextmanager
async def study(folder: Path, provider: Provider, **settings: str) -> AsyncIterator[Study]:
    lines = (json.dumps(battle(number)) + "\n" for number in range(BATTLES))
    (folder / "battles.jsonl").write_text("".join(lines), encoding="utf-8")
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    async with running(provider) as url:
        environment = clean_environment(
            embedding_model="none",
            llm_api_key="sk-test",
            llm_base_url=url,
            llm_model="m",
            llm_prices=str(folder / "prices.toml"),
            **settings,
        )
        yield Study(folder, environment)


@pytest.mark.timeout(300)
async def test_a_killed_run_continues_with_its_batches_and_pays_half_once(tmp_path: Path) -> None:
    provider = Provider(Faults(batch_s=3.0))
    async with study(tmp_path, provider) as killed:
        child = await killed.begin()
        await provider.in_progress.wait()
        child.send_signal(signal.SIGKILL)
        await child.wait()
        assert killed.records()
        code, output = await run_command(killed.environment, *killed.arguments)
    assert code == 0, output
    rows = killed.rows()
    assert [row["state"] for row in rows] == ["scored"] * BATTLES
    assert set(provider.answered.values()) == {1}
    assert provider.answered.total() == 5 * BATTLES
    assert provider.paths["POST /v1/chat"] == 0
    for row in rows:
        tokens = [(spend["input_tokens"], spend["output_tokens"]) for spend in row["spend"]]
        full = sum(1000 * given + 2000 * written for given, written in tokens) / 1_000_000
        assert float(row["cost"]["amount"]) == pytest.approx(full / 2)
        assert sum(spend["calls"] for spend in row["spend"]) == 5
    assert not killed.records()
    # A kill between the upload of a file and its batch leaves the file to the provider.
    assert provider.paths["DELETE /v1/files"] >= 2 * provider.paths["POST /v1/batches"] > 0


async def test_what_has_no_batches_is_an_error_at_the_start(tmp_path: Path) -> None:
    provider = Provider(Faults(batches=False))
    async with study(tmp_path, provider) as asked:
        code, output = await run_command(asked.environment, *asked.arguments)
        assert code == 1
        assert "has no batches (404); run the command without --batch" in output
        offline = {**asked.environment, "NUGGETSTREAM_LLM_API_KEY": "", "NUGGETSTREAM_LLM_BASE_URL": ""}
        code, output = await run_command(offline, *asked.arguments)
    assert code == 1
    assert "--batch needs a model's endpoint" in output
    assert not provider.answered
