"""Variations of queries and a reranker in the whole platform, and a reranker that is away."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from nuggetstream.client import AsyncClient
from services.cli.main import main
from services.cli.wiring import reranking as wiring
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.offline.serve import running
from services.retriever import cross_encoder
from services.runtime.llm.settings import LLMSettings
from services.store.spend.costs import Costs
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
        }.items():
            monkeypatch.setenv(f"NUGGETSTREAM_{name}", value)
        if not answers:
            monkeypatch.setattr(wiring, "_TIMEOUT_S", 0.1)
        pipeline = PipelineSettings(embedding_model="none")
        choices = Choices(
            folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0
        )
        async with embedded(choices) as platform, AsyncClient(platform.url) as client:
            shown = await client.submit_and_wait(battle(1))
            parts = await Costs(platform.database).of_battle(shown.id)
        server.wait.set()
    assert shown.state == "scored"
    assert shown.retrieval is not None
    assert shown.retrieval.ranking == ("bm25+variations+rerank" if answers else "bm25+variations")
    assert 1 <= len(shown.retrieval.variations) <= 2
    assert len(server.requests) == 1
    assert len(server.requests[0]["documents"]) >= len(shown.evidence) > 0
    spent = {part.model: part for part in parts if part.stage == "retriever"}
    assert len(spent) == 2  # the model that writes variations, and the reranker
    assert all(spend.calls == 1 and spend.input_tokens > 0 for spend in spent.values())
    assert "cross" in spent


class _Slow:
    """A cross-encoder that takes longer to load than a search may take."""

    def __init__(self, name: str) -> None:
        time.sleep(1.0)
        self.calls = 0
        LOADED[name] = self

    def predict(self, pairs: list[tuple[str, str]], **_: Any) -> Any:
        self.calls += 1
        return np.arange(len(pairs), dtype=np.float32)


LOADED: dict[str, _Slow] = {}


async def test_a_model_in_the_process_is_loaded_before_the_first_battle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cross_encoder, "_load", _Slow)
    monkeypatch.setenv("NUGGETSTREAM_RERANK_MODEL", "slow")
    monkeypatch.setattr(wiring, "_TIMEOUT_S", 0.9)
    pipeline = PipelineSettings(embedding_model="none")
    choices = Choices(folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0)
    async with embedded(choices) as platform, AsyncClient(platform.url) as client:
        assert LOADED["slow"].calls == 0
        shown = await client.submit_and_wait(battle(1))
    assert shown.retrieval is not None
    assert shown.retrieval.ranking == "bm25+rerank"
    assert LOADED["slow"].calls == 1


def test_an_evaluation_with_a_model_that_is_not_there_ends_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(name: str) -> Any:
        raise OSError(f"{name} is not a model")

    monkeypatch.setattr(cross_encoder, "_load", load)
    monkeypatch.setenv("NUGGETSTREAM_RERANK_MODEL", "nothing")
    file = tmp_path / "battles.jsonl"
    file.write_text(json.dumps(battle(1)) + "\n")
    ended = CliRunner().invoke(main, ["eval", str(file), "--out", str(tmp_path / "out")])
    assert ended.exit_code == 1
    said = "NUGGETSTREAM_RERANK_MODEL: the reranker nothing cannot be loaded: nothing is not a model"
    assert ended.output.count(said) == 1
    assert not (tmp_path / "out" / "results.jsonl").exists()
