"""Variations of queries and a reranker in the whole platform, and a reranker that is away."""

from pathlib import Path

import pytest

from nuggetstream.client import AsyncClient
from services.cli.embedded import Choices, embedded
from services.cli.fetch_settings import FetchSettings
from services.cli.settings import PipelineSettings
from services.offline.serve import running
from services.runtime.llm.settings import LLMSettings
from services.store.spend import DatabaseSpendStore
from tests.e2e.battles import battle
from tests.services.retriever.test_reranking import Server


@pytest.mark.parametrize("answers", [True, False], ids=["reranked", "reranker away"])
async def test_a_battle_is_evaluated_with_variations_and_a_reranker(
    answers: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server()
    if answers:
        server.wait.set()
    async with running(server) as url:
        for name, value in {
            "RETRIEVAL_QUERY_VARIATIONS": "2",
            "RERANK_URL": url,
            "RERANK_MODEL": "cross",
            "RERANK_TIMEOUT_S": "5" if answers else "0.1",
        }.items():
            monkeypatch.setenv(f"NUGGETSTREAM_{name}", value)
        pipeline = PipelineSettings(retry_seconds=0.01, resamples=100, embedding_model="none")
        choices = Choices(tmp_path, pipeline, FetchSettings(), LLMSettings(), grace=2.0)
        async with embedded(choices) as platform, AsyncClient(platform.url) as client:
            shown = await client.submit_and_wait(battle(1))
            parts = await DatabaseSpendStore(platform.database).of_battle_by_stage(shown.id)
        server.wait.set()
    assert shown.state == "scored"
    assert shown.retrieval is not None
    assert shown.retrieval.ranking == ("bm25+variations+rerank" if answers else "bm25+variations")
    assert 1 <= len(shown.retrieval.variations) <= 2
    assert len(server.requests) == 1
    assert len(server.requests[0]["documents"]) >= len(shown.evidence) > 0
    spent = {part.model: part.spend for part in parts if part.stage == "retriever"}
    assert len(spent) == 2  # the model that writes variations, and the reranker
    assert all(spend.calls == 1 and spend.tokens.input > 0 for spend in spent.values())
    assert "cross" in spent
