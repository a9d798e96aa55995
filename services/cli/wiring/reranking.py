"""The reranker of the retriever, and the model that varies its queries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from services.cli.wiring.ledgers import ledger_for, open_exchange
from services.cli.wiring.prepared import NotPreparedYet
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.shared_parts import open_chat_model
from services.runtime.errors import Unavailable
from services.runtime.masking import KNOWN

if TYPE_CHECKING:
    from services.cli.wiring.parts import Parts
    from services.retriever.reranking import Reranker, Reranking
    from services.retriever.variations import QueryVariations
    from services.runtime.llm.build import ASGIApp
    from services.runtime.llm.settings import LLMSettings
    from services.store.database import Database

_TIMEOUT_S = 10.0  # after which the order of the search is taken
_PATIENCE_S = 60.0  # where this process answers: nothing is away


@asynccontextmanager
async def open_reranking(
    settings: RetrievalSettings, llm: "LLMSettings", database: "Database", app: "ASGIApp | None" = None
) -> AsyncIterator["Reranking | None"]:
    """The reranker: behind a URL, or in this process; None where there is none.

    Args:
        settings: Which reranker.
        llm: Contains prices and budgets.
        database: Contains what was spent.
        app: Answers in this process in place of the endpoint; None to ask the endpoint.

    Raises:
        ValueError: The price of the model behind a URL is missing, although there is a budget of money.
    """
    from services.retriever.reranking import Reranking

    timeout_s = _TIMEOUT_S if app is None else _PATIENCE_S
    if settings.rerank_model is None:
        yield None
    elif settings.rerank_url is None:
        from services.retriever.cross_encoder import CrossEncoderReranker

        yield Reranking(CrossEncoderReranker(settings.rerank_model), timeout_s)
    else:
        from services.retriever.rerank_endpoint import RerankEndpoint
        from services.runtime.llm.exchange import Names

        ledger = ledger_for(settings.rerank_model, llm, database)
        names = Names("the reranker", "NUGGETSTREAM_RERANK_", "NUGGETSTREAM_RERANK_URL")
        exchange = open_exchange(settings.rerank_url, settings.rerank_key, timeout_s, names, app)
        endpoint = RerankEndpoint(exchange, settings.rerank_model, ledger)
        try:
            yield Reranking(endpoint, timeout_s)
        finally:
            await endpoint.close()


async def require_reranker(reranker: "Reranker") -> None:
    """Load the reranker, unless it is loaded or behind a URL.

    Raises:
        NotPreparedYet: It cannot be loaded.
    """
    try:
        await reranker.ready()
    except Unavailable as error:
        why = KNOWN.redact(error.admin_detail or error.detail)
        raise NotPreparedYet(
            f"NUGGETSTREAM_RERANK_MODEL: the reranker {reranker.model} cannot be loaded: {why}"
        ) from error


@asynccontextmanager
async def open_loaded_reranking(
    settings: RetrievalSettings, llm: "LLMSettings", database: "Database", app: "ASGIApp | None" = None
) -> AsyncIterator["Reranking | None"]:
    """The reranker as `open_reranking` opens it, loaded before the first search.

    Raises:
        NotPreparedYet: It cannot be loaded.
        ValueError: As for `open_reranking`.
    """
    async with open_reranking(settings, llm, database, app) as reranking:
        if reranking is not None:
            await require_reranker(reranking.reranker)
        yield reranking


@asynccontextmanager
async def open_variations(parts: "Parts") -> AsyncIterator["QueryVariations | None"]:
    """The model that varies queries; None where queries are searched for as they are."""
    from services.retriever.variations import QueryVariations

    if not parts.retrieval.retrieval_query_variations:
        yield None
        return
    async with open_chat_model(parts, parts.llm.for_stage("retriever")) as model:
        yield QueryVariations(model, parts.retrieval.retrieval_query_variations)
