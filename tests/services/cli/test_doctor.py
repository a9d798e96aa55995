"""`nuggetstream doctor` names what is missing, old address registries, and a corpus too large for memory."""

from datetime import timedelta
from types import ModuleType

import pytest
from click.testing import CliRunner

from nuggetstream.domain.identity import content_hash
from services.cli.commands.start import doctor
from services.cli.commands.start.doctor import _index, _registries
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.runtime.nats_server import NatsServerMissing
from services.runtime.public_addresses import registries_of
from services.store.content.chunks import Chunks, StoredChunk
from services.store.database import Database


def test_registries_older_than_a_year_are_a_warning_and_no_error() -> None:
    as_of = registries_of()
    assert _registries(as_of + timedelta(days=365)).startswith(f"ok   address registries of {as_of}")
    old = _registries(as_of + timedelta(days=366))
    assert old.startswith(f"warn address registries of {as_of}")
    assert "more than a year old" in old


def test_one_process_needs_a_broker_and_the_packages_of_all_services(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object) -> None:
        raise NatsServerMissing("there is no nats-server")

    def without_faiss(name: str) -> ModuleType:
        if name.endswith("retriever"):
            raise ModuleNotFoundError("No module named 'faiss'", name="faiss")
        return ModuleType(name)

    monkeypatch.setattr(doctor, "find_binary", missing)
    monkeypatch.setattr(doctor, "import_module", without_faiss)
    result = CliRunner().invoke(doctor.command, ["--embedded"])
    assert result.exit_code == 1
    assert "FAIL nats-server: there is no nats-server\n" in result.output
    assert "FAIL services: retriever needs faiss, which is not installed (extra: light)\n" in result.output


def test_a_reranker_that_cannot_be_computed_here_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.indexer.torch_encoder.installed", lambda: False)
    monkeypatch.setenv("NUGGETSTREAM_RERANK_MODEL", "some-reranker")
    result = CliRunner().invoke(doctor.command, ["--embedded"])
    assert result.exit_code == 1
    assert "FAIL reranker: some-reranker needs sentence-transformers" in result.output


async def test_a_corpus_that_is_too_large_for_an_index_in_memory_is_an_error_with_its_remedy(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["tea", "coffee", "water"]
    await Chunks(record).add([StoredChunk(text, content_hash(text), 0, text) for text in texts])
    platform = PlatformSettings(database_url=record.url)
    memory, pgvector = RetrievalSettings(), RetrievalSettings(retrieval_index="pgvector")
    corpus, battle = PipelineSettings(retrieval_scope="corpus"), PipelineSettings()
    monkeypatch.setattr(doctor, "MAX_CHUNKS", 3)
    assert await _index(platform, corpus, memory) == "3 chunks, in memory"
    monkeypatch.setattr(doctor, "MAX_CHUNKS", 2)
    with pytest.raises(RuntimeError, match=r"more than 2 chunks .* NUGGETSTREAM_RETRIEVAL_INDEX=pgvector"):
        await _index(platform, corpus, memory)
    assert await _index(platform, corpus, pgvector) == "in PostgreSQL"
    assert "not needed" in await _index(platform, battle, memory)
