"""The settings of the retriever, its index, and what it does before it searches."""

import asyncio
from time import monotonic
from typing import TYPE_CHECKING, Literal, Self

import click
import structlog
from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.names import Names
from services.runtime.errors import Unavailable
from services.runtime.llm.address import EndpointAddress

if TYPE_CHECKING:
    from services.retriever.port import VectorIndex
    from services.retriever.stage import Retriever
    from services.runtime.service import Preparation
    from services.store.database import Database

log = structlog.get_logger(__name__)

_RETRY_S = 5.0  # after which filling the index is tried again


class RetrievalSettings(BaseSettings):
    """How the retriever searches.

    Attributes:
        retrieval_index: Where the index over all chunks is: "memory", or "pgvector" in PostgreSQL.
        retrieval_shared_arenas: Arenas whose sources searches of the corpus find in every arena, separated by
            commas; else those of an arena are found in this arena alone.
        retrieval_query_variations: Number of variations of a query that the chat model makes and that are
            searched for, too; 0 for none.
        rerank_url: Base URL of an endpoint that answers `POST /rerank`, such as those of Cohere, vLLM and
            TEI; unset to run a model in the retriever, or none.
        rerank_api_key: Key for it.
        rerank_model: Name of the model to ask the endpoint for, or of a cross-encoder in the retriever;
            unset for none.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    retrieval_index: Literal["memory", "pgvector"] = "memory"
    retrieval_shared_arenas: Names = ()
    retrieval_query_variations: int = Field(0, ge=0, le=10)
    rerank_url: str | None = None
    rerank_api_key: SecretStr | None = None
    rerank_model: str | None = None

    @model_validator(mode="after")
    def _rerank_endpoint_has_a_model(self) -> Self:
        if self.rerank_url is None and self.rerank_api_key is not None:
            raise ValueError("set NUGGETSTREAM_RERANK_URL, too: the key has no endpoint")
        if self.rerank_url is not None:
            EndpointAddress.of(self.rerank_url, self.rerank_key)
            if self.rerank_model is None:
                raise ValueError(
                    "set NUGGETSTREAM_RERANK_MODEL: the model to ask NUGGETSTREAM_RERANK_URL for"
                )
        return self

    @property
    def rerank_key(self) -> str | None:
        """The key for the endpoint of the reranker."""
        return None if self.rerank_api_key is None else self.rerank_api_key.get_secret_value()


async def open_index(settings: RetrievalSettings, database: "Database", model: str | None) -> "VectorIndex":
    """The index over all chunks.

    Args:
        settings: Which index.
        database: The database.
        model: Name of the embedding model; None without one.

    Raises:
        click.ClickException: The database cannot have that index.
        Unavailable: The database does not answer, or lacks pgvector.
    """
    if settings.retrieval_index == "memory":
        from services.retriever.memory import MemoryIndex

        return MemoryIndex()
    if database.is_sqlite:
        raise click.ClickException(
            "NUGGETSTREAM_RETRIEVAL_INDEX=pgvector needs PostgreSQL; the database is SQLite"
        )
    from services.retriever.pgvector import PgVectorIndex

    index = PgVectorIndex(database, model)
    await index.prepare()
    return index


def preparations(retriever: "Retriever") -> "list[Preparation]":
    """What a retriever does before it takes battles: if they search the corpus, it fills its index.

    Filling an index may take longer than the deadline of a battle.
    """
    from services.retriever.search import Scope

    async def fill() -> None:
        started = monotonic()
        while True:
            try:
                await retriever.searcher.corpus.update()
            except Unavailable as error:
                log.warning("the index of the corpus is not filled yet", why=error.for_operators)
                await asyncio.sleep(_RETRY_S)
            else:
                log.info("the index of the corpus is up to date", seconds=round(monotonic() - started, 1))
                return

    return [fill] if retriever.scope is Scope.CORPUS else []
