"""The embedding model: in this process, or behind a URL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Protocol

from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.ledgers import ledger_for, open_exchange
from services.cli.wiring.prepared import NotPrepared, NotPreparedYet
from services.cli.wiring.settings import PipelineSettings
from services.runtime.embedding import Embedder, NotInstalled

if TYPE_CHECKING:
    from pathlib import Path

    from services.indexer.cuts import Cuts
    from services.indexer.endpoint import EmbeddingEndpoint
    from services.indexer.remote import RemoteEmbedder
    from services.runtime.llm.build import ASGIApp
    from services.runtime.llm.settings import LLMSettings
    from services.store.database import Database


_TIMEOUT_S, _ATTEMPTS = 60.0, 5  # of a call
_CALLS_AT_ONCE = 8  # at most; the limit adapts below it


class Model(Embedder, Protocol):
    """An embedding model that can be waited for."""

    @property
    def cuts(self) -> "Cuts":
        """Which texts it read only in part."""

    async def ready(self) -> None:
        """Return once the model can answer.

        Raises:
            Outage: Its endpoint does not answer.
            OSError: There is no such model, or it cannot be downloaded.
        """


async def require_model(model: Model) -> None:
    """Check that a model can answer.

    Raises:
        NotPreparedYet: It cannot be loaded.
        Outage: Its endpoint does not answer.
    """
    try:
        await model.ready()
    except OSError as error:
        raise NotPreparedYet(f"the embedding model {model.model} cannot be loaded: {error}") from error


@asynccontextmanager
async def open_model(
    settings: EmbeddingSettings,
    pipeline: PipelineSettings,
    llm: "LLMSettings",
    database: "Database",
    app: "ASGIApp | None" = None,
    *,
    kept: "Path | None" = None,
) -> AsyncIterator[Model | None]:
    """The embedding model; None in a light installation.

    Args:
        settings: Where it is.
        pipeline: Contains its name.
        llm: Contains prices and budgets.
        database: Contains vectors of the model, and what was spent.
        app: Answers in this process in place of the endpoint; None to ask the endpoint.
        kept: File with vectors of a model in this process, for the next run; None to keep none.

    Raises:
        NotPrepared: What computes the model is not installed.
        ValueError: The price of the model is missing, although there is a budget of money.
    """
    if not pipeline.has_embedder:
        yield None
    elif not settings.is_remote:
        from services.indexer.loading import local_model, runtime_of

        try:
            runtime_of(pipeline.embedding_model)
        except NotInstalled as error:
            raise NotPrepared(str(error)) from error
        model = local_model(pipeline.embedding_model)
        if kept is None:
            yield model
            return
        from services.indexer.kept_vectors import KeptVectors

        keeping = KeptVectors(model, kept)
        try:
            yield keeping
        finally:
            keeping.save()
    else:
        endpoint = _endpoint(settings, pipeline.embedding_model, app)
        remote = _remote(endpoint, llm, database)
        try:
            yield remote
        finally:
            await remote.close()


async def probe(settings: EmbeddingSettings, name: str) -> int:
    """Embed one text by the endpoint, and return the dimensions of its vector.

    Raises:
        StageError: The endpoint does not answer, or rejects the call.
    """
    from services.runtime.llm.call_failed import CallFailed

    endpoint = _endpoint(settings, name)
    try:
        return int((await endpoint.embed(["probe"])).rows.shape[1])
    except CallFailed as failed:
        raise failed.error from failed
    finally:
        await endpoint.exchange.close()


def _endpoint(settings: EmbeddingSettings, name: str, app: "ASGIApp | None" = None) -> "EmbeddingEndpoint":
    from services.indexer.endpoint import EmbeddingEndpoint
    from services.runtime.llm.exchange import Names

    names = Names("the embedding model", "NUGGETSTREAM_EMBEDDING_", "NUGGETSTREAM_EMBEDDING_URL")
    exchange = open_exchange(settings.embedding_url or "", settings.key, _TIMEOUT_S, names, app)
    return EmbeddingEndpoint(exchange, name)


def _remote(endpoint: "EmbeddingEndpoint", llm: "LLMSettings", database: "Database") -> "RemoteEmbedder":
    from services.indexer.calls import EmbeddingCalls
    from services.indexer.remote import RemoteEmbedder
    from services.runtime.llm.circuit import Circuit
    from services.runtime.llm.limiter import AdaptiveLimit
    from services.runtime.llm.retries import RetryPolicy
    from services.store.content.chunks import Chunks

    name = endpoint.model
    ledger = ledger_for(name, llm, database)
    chunks = Chunks(database)
    calls = EmbeddingCalls(
        endpoint=endpoint,
        circuit=Circuit(name, 2 * _ATTEMPTS, llm.patience_s, endpoint=endpoint.exchange.host),
        ledger=ledger,
        limit=AdaptiveLimit(_CALLS_AT_ONCE),
        retries=RetryPolicy(attempts=_ATTEMPTS),
    )
    return RemoteEmbedder(calls, reference=lambda: chunks.text_with_vector(name))
