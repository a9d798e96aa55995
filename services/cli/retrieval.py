"""The settings of the retriever, and its index."""

from typing import TYPE_CHECKING, Literal

import click
from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

if TYPE_CHECKING:
    from services.retriever.port import VectorIndex
    from services.store.database import Database


class RetrievalSettings(BaseSettings):
    """How the retriever searches.

    Attributes:
        retrieval_index: Where the index over all chunks is: "memory", or "pgvector" in PostgreSQL.
        retrieval_exact_chunks: Number of chunks up to which a vector is compared with all others; with more,
            a graph (HNSW) is searched.
        retrieval_min_similarity: Smallest cosine similarity to the query at which a chunk is evidence; unset
            for all.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    retrieval_index: Literal["memory", "pgvector"] = "memory"
    retrieval_exact_chunks: int = Field(20_000, ge=0)
    retrieval_min_similarity: float | None = Field(None, ge=-1, le=1)


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
        from services.retriever.memory.index import MemoryIndex

        return MemoryIndex(exact_chunks=settings.retrieval_exact_chunks)
    if database.is_sqlite:
        raise click.ClickException(
            "NUGGETSTREAM_RETRIEVAL_INDEX=pgvector needs PostgreSQL; the database is SQLite"
        )
    from services.retriever.pgvector import PgVectorIndex

    index = PgVectorIndex(database, model, settings.retrieval_exact_chunks)
    await index.prepare()
    return index
