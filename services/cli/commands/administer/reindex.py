"""`nuggetstream reindex`: move a corpus to another index or another embedding model."""

import asyncio
from contextlib import AsyncExitStack

import click

from services.cli.wiring.embedding import open_model
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.prepared import prepared_database
from services.cli.wiring.process import read_settings, run
from services.cli.wiring.retrieval import RetrievalSettings, open_index
from services.cli.wiring.settings import PipelineSettings, PlatformSettings, ServerSettings
from services.runtime.llm.settings import LLMSettings


@click.command("reindex")
@click.option("--model", help="Embedding model.  [default: NUGGETSTREAM_EMBEDDING_MODEL]")
@click.option(
    "--index",
    "where",
    type=click.Choice(["memory", "pgvector"]),
    help="Index to fill.  [default: NUGGETSTREAM_RETRIEVAL_INDEX]",
)
@click.option(
    "--drop-others",
    "drop",
    is_flag=True,
    help="Then delete the vectors of all other models, and the tables of all other indexes.",
)
def command(model: str | None, where: str | None, *, drop: bool) -> None:
    """Give every stored chunk a vector of a model, and fill the index with it.

    Services run meanwhile, with the model and the index that they have; start them with the new ones
    afterwards. The model runs in this process, unless NUGGETSTREAM_EMBEDDING_URL names an endpoint. Indexes
    in memory are filled by the retriever when it starts, so for them only vectors are stored. Started again,
    it continues where it stopped.
    """
    platform, pipeline = read_settings(PlatformSettings), read_settings(PipelineSettings)
    settings, embedding = read_settings(RetrievalSettings), read_settings(EmbeddingSettings)
    llm = read_settings(LLMSettings)
    if where is not None:
        settings = settings.model_copy(update={"retrieval_index": where})
    if model is not None:
        pipeline = pipeline.model_copy(update={"embedding_model": model})

    async def work(_: asyncio.Event) -> None:
        from services.cli.wiring.shared_parts import claims_of
        from services.indexer.storing import StoringEmbedder
        from services.retriever.corpus import ChunkVectors
        from services.retriever.pgvector import PgVectorIndex
        from services.retriever.reindexing import drop_others, reindex
        from services.store.content.chunks import Chunks

        async with AsyncExitStack() as opened:
            database = await opened.enter_async_context(prepared_database(platform.database_url))
            embedder = await opened.enter_async_context(open_model(embedding, pipeline, llm, database))
            name = None if embedder is None else embedder.model
            any_index = await open_index(settings, database, name)
            index = any_index if isinstance(any_index, PgVectorIndex) else None

            def show(seen: int, done: int) -> None:
                click.echo(f"{seen:,} chunks, of which {done:,} were indexed", err=True)

            chunks, storing = Chunks(database), None
            if embedder is not None:
                storing = StoringEmbedder(embedder, chunks, claims_of(database), cuts=embedder.cuts)
            await reindex(database, ChunkVectors(chunks, embedder, storing), index, show)
            if drop:
                await drop_others(database, index, name)
        click.echo(f"the corpus is indexed by {name or 'words alone'} ({settings.retrieval_index})")

    run(work, read_settings(ServerSettings), drains=False)
