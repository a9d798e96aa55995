"""The embedding model behind a URL: the whole platform with it, and an indexer that waits for it."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from nuggetstream.client import AsyncClient
from services.cli.wiring import embedding
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.embedding import open_model, require_model
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.indexer import LoadedAtFirstBattle
from services.cli.wiring.prepared import NotPrepared, NotPreparedYet, wait_until_prepared
from services.cli.wiring.settings import PipelineSettings
from services.offline.serve import running
from services.runtime.bus import Bus
from services.runtime.errors import ModelOutage
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import KNOWN
from services.store.content.chunk_tables import chunks, vectors
from services.store.database import Database
from services.store.spend.costs import Costs
from services.wire.subjects import PREFIX
from tests.e2e.battles import battle
from tests.integration.indexer.conftest import Server, error

KEY = "sk-embedding-0123456789"


@pytest.fixture
def endpoint() -> Server:
    return Server()


async def test_a_platform_embeds_each_text_once_at_an_endpoint_and_books_it(
    endpoint: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(endpoint) as url:
        monkeypatch.setenv("NUGGETSTREAM_EMBEDDING_URL", url)
        monkeypatch.setenv("NUGGETSTREAM_EMBEDDING_MODEL", "words")
        pipeline = PipelineSettings()
        choices = Choices(
            folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0
        )
        async with embedded(choices) as platform, AsyncClient(platform.url) as client:
            for number in (1, 2):
                assert (await client.submit_and_wait(battle(number))).state == "scored"
            async with platform.database.reading() as tx:
                models = set(await tx.scalars(select(vectors.c.model)))
                stored = set(await tx.scalars(select(vectors.c.text_hash)))
                hashes = set(await tx.scalars(select(chunks.c.text_hash)))
            parts = await Costs(platform.database).of_battle("battle-001")
    assert models == {"words"}
    assert hashes
    assert stored == hashes
    asked = [text for request in endpoint.requests[1:] for text in request]  # the first checks the model
    assert len(asked) == len(set(asked))
    [spent] = [part for part in parts if (part.stage, part.model) == ("indexer", "words")]
    assert spent.input_tokens > 0


async def test_an_indexer_is_ready_once_its_model_answers(
    endpoint: Server, record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "_ATTEMPTS", 1)
    endpoint.instead = lambda _: error(503)
    told: list[str] = []
    heard = asyncio.Event()

    async def tell(reason: str) -> None:
        told.append(reason)
        heard.set()

    async with running(endpoint) as url:
        settings = EmbeddingSettings(
            embedding_url=url, embedding_api_key=SecretStr(KEY), embedding_model="words"
        )
        pipeline = PipelineSettings(embedding_model="words")
        async with open_model(settings, pipeline, LLMSettings(), record) as model:
            assert model is not None
            requirements = [partial(require_model, model)]
            starting = asyncio.create_task(wait_until_prepared(requirements, asyncio.Event(), 0.0, tell))
            await heard.wait()
            assert told[0].startswith("the embedding model's endpoint answered 503")
            assert not starting.done()
            endpoint.instead = lambda _: None
            assert await starting
            assert (await model.embed(["tea"])).shape == (1, 64)
    assert KNOWN.hide(KEY) == "***"


async def test_a_model_that_cannot_be_loaded_is_not_ready(record: Database) -> None:
    pytest.importorskip("sentence_transformers", reason="the extra dense is not installed")
    pipeline = PipelineSettings(embedding_model="./no-such-model")
    async with open_model(EmbeddingSettings(), pipeline, LLMSettings(), record) as model:
        assert model is not None
        with pytest.raises(NotPreparedYet, match="no-such-model cannot be loaded"):
            await require_model(model)


async def test_a_model_without_what_computes_it_is_not_started_with(
    record: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.indexer.loading.installed", lambda: False)
    pipeline = PipelineSettings(embedding_model="BAAI/bge-m3")
    with pytest.raises(NotPrepared, match="BAAI/bge-m3 needs sentence-transformers"):
        async with open_model(EmbeddingSettings(), pipeline, LLMSettings(), record):
            pass


async def test_a_money_budget_needs_the_price_of_the_model(record: Database) -> None:
    settings = EmbeddingSettings(embedding_url="http://there.invalid/v1", embedding_model="words")
    llm = LLMSettings(day_money="1", model="m")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a money budget needs a price for words"):
        async with open_model(settings, PipelineSettings(embedding_model="words"), llm, record):
            pass


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"URL": "http://there.invalid/v1"}, "set NUGGETSTREAM_EMBEDDING_MODEL"),
        ({"API_KEY": KEY}, "set NUGGETSTREAM_EMBEDDING_URL"),
        ({"URL": "there.invalid", "MODEL": "words"}, "must be http"),
    ],
)
def test_settings_that_contradict_each_other_are_errors(
    variables: dict[str, str], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"NUGGETSTREAM_EMBEDDING_{name}", value)
    with pytest.raises(ValueError, match=problem):
        EmbeddingSettings()


class Loads:
    """A model that notes that it was loaded."""

    model = "words"

    def __init__(self) -> None:
        self.loaded = asyncio.Event()

    async def embed(self, texts: object) -> object:
        raise ModelOutage(None, "is never asked", patience=0)  # type: ignore[arg-type]

    async def ready(self) -> None:
        self.loaded.set()


async def test_the_model_is_loaded_when_the_first_battle_is_submitted_and_not_before(bus: Bus) -> None:
    model, stop, subscribed = Loads(), asyncio.Event(), asyncio.Event()
    loading = asyncio.create_task(LoadedAtFirstBattle(bus, model).run(stop))  # type: ignore[arg-type]
    async with asyncio.timeout(60):
        while not model.loaded.is_set():
            await bus.core_publish(f"{PREFIX}.battle.submitted" if subscribed.is_set() else "other", b"")
            await bus.flush()
            if not subscribed.is_set():
                assert not model.loaded.is_set()
                subscribed.set()
            await asyncio.sleep(0.01)
        stop.set()
        await loading
