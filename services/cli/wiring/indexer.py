"""The wiring of the indexer, with the embedding model that it runs or asks."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import structlog

from nuggetstream.domain.event import BattleSubmitted
from services.cli.wiring.embedding import Model, open_model
from services.cli.wiring.parts import Parts
from services.cli.wiring.shared_parts import claims_of, model_state
from services.indexer.batching import BatchingEmbedder
from services.indexer.caching import CachingEmbedder
from services.indexer.grpc_service import embedding_service
from services.indexer.remote import RemoteEmbedder
from services.indexer.stage import Indexer, build
from services.indexer.storing import StoringEmbedder
from services.runtime.bus import Bus, Notification
from services.runtime.polling import ended_before
from services.runtime.service import BackgroundTask, Service
from services.store.content.chunks import Chunks, Sources
from services.wire.subjects import SUBJECTS

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The indexer as a service; gRPC `Embedding.Embed` is a part of it where there is a model."""
    chunks = Chunks(parts.database)
    indexer = Indexer(
        blobs=parts.blobs,
        chunks=chunks,
        sources=Sources(parts.database),
        embedder=None,
        size=parts.pipeline.chunk_sentences,
        overlap=parts.pipeline.chunk_overlap,
    )
    async with AsyncExitStack() as opened:
        model = parts.embedder
        if model is None:
            opening = open_model(
                parts.embedding,
                parts.pipeline,
                parts.llm,
                parts.database,
                parts.stand_in,
                kept=parts.kept_vectors,
            )
            model = await opened.enter_async_context(opening)
        if model is None:
            yield Service(name="indexer", stages=[build(indexer)])
            return
        remote = isinstance(model, RemoteEmbedder)
        batching = model if remote else BatchingEmbedder(model)
        storing = StoringEmbedder(batching, chunks, claims_of(parts.database), cuts=model.cuts)
        indexer = replace(indexer, embedder=storing)
        stage = build(indexer, concurrency=8)
        background: Sequence[BackgroundTask] = (
            [model_state(parts.bus, stage.name, model)]
            if isinstance(model, RemoteEmbedder)
            else [LoadedAtFirstBattle(parts.bus, model).run]
        )
        served = embedding_service(CachingEmbedder(batching), storing)
        yield Service(name="indexer", stages=[stage], rpcs=[served], background=background)


class LoadedAtFirstBattle:
    """Loads a model when the first battle is submitted, while its pages are being fetched.

    A platform that is only looked at does not load it, and a battle does not wait for it.

    Args:
        bus: Connection to the broker.
        model: The model, which is otherwise loaded by the first text.
    """

    def __init__(self, bus: Bus, model: Model) -> None:
        self._bus, self._model = bus, model

    async def run(self, stop: asyncio.Event) -> None:
        """Wait for a battle, load the model, and wait for the end."""
        submitted = asyncio.Event()

        async def hear(_: Notification) -> None:
            submitted.set()

        async with self._bus.core_subscribe(SUBJECTS[BattleSubmitted], hear):
            heard = await ended_before(stop, submitted.wait())
        if heard:
            await self._load()
        await stop.wait()

    async def _load(self) -> None:
        try:
            await self._model.ready()
        except Exception as error:  # the battle's own attempt fails with it, and says so
            log.warning("the embedding model cannot be loaded", why=str(error))
