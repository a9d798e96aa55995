"""The wiring of the retriever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.cli.wiring.parts import Parts
from services.cli.wiring.reranking import open_variations
from services.cli.wiring.retrieval import open_index, preparations
from services.cli.wiring.shared_parts import open_embedder
from services.retriever.grpc_service import retrieval_service
from services.retriever.search import Scope, Searcher
from services.retriever.stage import Retriever, build
from services.runtime.service import Service


@asynccontextmanager
async def open_service(parts: Parts) -> AsyncIterator[Service]:
    """The retriever: finds evidence."""
    scope, limit = Scope(parts.pipeline.retrieval_scope), parts.pipeline.evidence_limit
    async with (
        open_embedder(parts) as embedder,
        open_embedder(parts, store=True) as storing,
        open_variations(parts) as variations,
    ):
        model = None if embedder is None else embedder.model
        index = await open_index(parts.retrieval, parts.database, model)
        searcher = Searcher.of(
            parts.database,
            embedder,
            index,
            parts.reranking,
            storing=storing,
            shared=frozenset(parts.retrieval.retrieval_shared_arenas),
        )
        retriever = Retriever(searcher, scope, limit, variations)
        stages = [build(retriever, parts.blobs)]
        yield Service(
            name="retriever",
            stages=stages,
            rpcs=[retrieval_service(searcher)],
            first=preparations(retriever),
        )
