"""Run in a copy of the tree with the new stage: it works in a pipeline, and people and programs see it."""

from pathlib import Path

import httpx2

from nuggetstream.client import AsyncClient
from nuggetstream.domain.progress import Branch
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.llm.settings import LLMSettings
from tests.e2e.battles import battle


async def test_the_new_stage_runs_in_a_pipeline(tmp_path: Path) -> None:
    pipeline = PipelineSettings(embedding_model="none")
    choices = Choices(folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0)
    async with embedded(choices) as platform, AsyncClient(platform.url) as client:
        assert (await client.submit_and_wait(battle(1))).state == "scored"
        event = await anext(streamed.event async for streamed in client.stream(after=0, kind=["summarized"]))
        steps = {step.name: step.state for step in (await client.battle(event.battle_id)).steps}
        async with httpx2.AsyncClient(base_url=platform.url, timeout=90) as http:
            page = (await http.get(f"/battles/{event.battle_id}")).text
    assert event.summary
    assert steps["summarizer"] is Branch.DONE
    assert "Summarize" in page
