"""The platform in this process, with a model at an endpoint of the test."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prometheus_client import REGISTRY
from pydantic import SecretStr

from nuggetstream.client import AsyncClient
from nuggetstream.views.battles import BattleView
from services.cli.wiring.embedded import Choices, Embedded, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.llm.settings import LLMSettings
from tests.attempts import attempts


@asynccontextmanager
async def platform(folder: Path, port: int, *, calls: int = 1, **llm: Any) -> AsyncIterator[Embedded]:
    endpoint = {"api_key": SecretStr("sk-test"), "base_url": f"http://127.0.0.1:{port}/v1", "model": "m"}
    settings = LLMSettings(**{**endpoint, **llm})
    pipeline = PipelineSettings(embedding_model="none")
    choices = Choices(folder=folder, pipeline=pipeline, fetch=FetchSettings(), llm=settings, grace=2.0)
    with attempts(calls):
        async with embedded(choices) as running:
            yield running


def metric(name: str, **labels: str) -> float:
    """The value of a metric of this process, summed over the labels that are not given; 0 without any."""
    samples = (sample for family in REGISTRY.collect() for sample in family.samples)
    return sum(s.value for s in samples if s.name == name and labels.items() <= s.labels.items())


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.02)


async def ended(client: AsyncClient, battle_id: str) -> BattleView:
    async with asyncio.timeout(60):
        while (view := await client.battle(battle_id)).state == "running":
            await asyncio.sleep(0.05)
    return view
