"""`nuggetstream doctor`: check what is installed, what is configured, and what can be reached."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from importlib import import_module

import click

from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.embedding import probe
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.prepared import prepared_database, require_streams
from services.cli.wiring.process import read_settings
from services.cli.wiring.registry import SERVICES, wiring_of
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings, ServerSettings, embedded_pipeline
from services.retriever.port import MAX_CHUNKS, REMEDY
from services.runtime.bus import Bus
from services.runtime.errors import StageError
from services.runtime.llm.settings import LLMSettings
from services.runtime.masking import KNOWN, masked_url
from services.runtime.nats_server import find_binary
from services.runtime.public_addresses import registries_of
from services.store.content.chunks import Chunks

_CONNECT_SECONDS = 4.0
_REGISTRIES_AGE = 365  # days

_ONE_PROCESS = "everything in one process, as `up`, `eval` and `demo` run it; --separate checks services"
_SEPARATE = "separate services, as `serve` runs them; --embedded checks `up`, `eval` and `demo`"

_EXTRAS = {
    "sentence_transformers": "dense vectors (extra: dense)",
    "trafilatura": "reading HTML (extra: scraper)",
    "playwright": "rendering of script-only pages (extra: rendering)",
    "fastapi": "the gateway (extra: gateway)",
    "openai": "calling a model (extra: llm)",
    "asyncpg": "PostgreSQL (extra: postgres)",
}


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        name: What is checked.
        run: Returns one line about what was found, or raises an error that says what is wrong.
        target: URL that is checked, without passwords; None where there is none.
    """

    name: str
    run: Callable[[], Awaitable[str]]
    target: str | None = None

    def line(self, result: str) -> str:
        """The result with the name and the URL of what was checked."""
        return ": ".join(part for part in (self.name, self.target, result) if part)


@click.command("doctor")
@click.option(
    "--embedded/--separate",
    default=None,
    help="Check what `up`, `eval` and `demo` need, which run everything in one process, or what separate "
    "services need.  [default: --separate where NUGGETSTREAM_NATS_URL or NUGGETSTREAM_DATABASE_URL is set]",
)
@click.option(
    "--model",
    "asks",
    is_flag=True,
    help="Ask the model one of each question instead, at its price, and say which profile suits it.",
)
def command(embedded: bool | None, asks: bool) -> None:
    """Check installation, configuration and connections; exit 1 if something needed is missing.

    It prints the URLs of the broker, the database and the model, without passwords.
    """
    if asks:
        raise SystemExit(asyncio.run(_tried(read_settings(LLMSettings))))
    platform = read_settings(PlatformSettings)
    if embedded is None:
        embedded = platform.model_fields_set.isdisjoint({"nats_url", "database_url"})
    for settings in (ServerSettings, FetchSettings, AccessSettings, EntrySettings):
        read_settings(settings)
    click.echo(f"checked: {_ONE_PROCESS if embedded else _SEPARATE}")
    for module, purpose in _EXTRAS.items():
        installed = importlib.util.find_spec(module) is not None
        click.echo(f"{'ok  ' if installed else '--  '} {module}: {purpose}")
    click.echo(_registries(datetime.now(UTC).date()))
    if asyncio.run(_failures(list(_checks(platform, embedded=embedded)))):
        raise SystemExit(1)


async def _tried(llm: LLMSettings) -> int:
    """Ask the model one of each question; returns the exit status."""
    try:
        from services.cli.commands.start.model_trial import try_model  # with the extra light

        name = "the offline heuristics" if llm.offline else f"{llm.model_name} at {masked_url(llm.url)}"
        click.echo(f"asking {name} about a battle whose answers are known")
        return 0 if await try_model(llm, click.echo) else 1
    except (StageError, ValueError, ImportError) as error:
        click.echo(f"FAIL {KNOWN.redact(f'model: {_message(error)}')}")
        return 1


def _checks(platform: PlatformSettings, *, embedded: bool) -> Iterator[Check]:
    llm, embedding = read_settings(LLMSettings), read_settings(EmbeddingSettings)
    pipeline, retrieval = read_settings(PipelineSettings), read_settings(RetrievalSettings)
    if embedded:
        pipeline = embedded_pipeline(pipeline)
        yield Check("services", _services)
        yield Check("nats-server", _broker_binary)
    yield Check("embeddings", lambda: _embeddings(pipeline, embedding), embedding.shown_url)
    if (reranker := retrieval.rerank_model) is not None and retrieval.rerank_url is None:
        yield Check("reranker", lambda: _reranker(reranker))
    yield Check("model", lambda: _model(llm), None if llm.offline else masked_url(llm.url))
    if (fallback := llm.at_fallback()) is not None:
        yield Check("fallback", lambda: _model(fallback), masked_url(fallback.url))
    if not embedded:
        yield Check("broker", lambda: _broker(platform), masked_url(platform.nats_url))
        yield Check("database", lambda: _database(platform), masked_url(platform.database_url))
        yield Check("index of the corpus", lambda: _index(platform, pipeline, retrieval))


def _registries(today: date) -> str:
    """One line about the age of the vendored registries of addresses. An old copy is no error."""
    as_of = registries_of()
    line = f"address registries of {as_of}: blocks that the scraper never contacts"
    if (today - as_of).days <= _REGISTRIES_AGE:
        return f"ok   {line}"
    return f"warn {line}; they are more than a year old: a newer version may know more blocks"


async def _failures(checks: list[Check]) -> int:
    failures = 0
    for check in checks:
        try:
            click.echo(f"ok   {check.line(await check.run())}")
        except Exception as error:
            failures += 1
            click.echo(f"FAIL {KNOWN.redact(check.line(_message(error)))}")
    return failures


def _message(error: Exception) -> str:
    if isinstance(error, StageError):
        return error.for_operators
    return str(error) or type(error).__name__


async def _embeddings(pipeline: PipelineSettings, embedding: EmbeddingSettings) -> str:
    if not pipeline.has_embedder:
        return "none; evidence is ranked by BM25 alone"
    if embedding.is_remote:
        dimensions = await probe(embedding, pipeline.embedding_model)
        return f"{pipeline.embedding_model} answers, with {dimensions} dimensions"
    from services.indexer.loading import runtime_of

    return f"{pipeline.embedding_model}, by {runtime_of(pipeline.embedding_model)}"


async def _reranker(model: str) -> str:
    from services.indexer.torch_encoder import installed

    if not installed():
        raise RuntimeError(f"{model} needs sentence-transformers (extra: dense), or NUGGETSTREAM_RERANK_URL")
    return f"{model}, by sentence-transformers"


async def _services() -> str:
    """What each service of one process imports."""
    for name in SERVICES:
        try:
            import_module(wiring_of(name))
        except ModuleNotFoundError as error:
            raise RuntimeError(f"{name} needs {error.name}, which is not installed (extra: light)") from error
    return "all are installed"


async def _broker_binary() -> str:
    return str(find_binary())


async def _broker(platform: PlatformSettings) -> str:
    settings = replace(platform.bus("doctor"), connect_within=_CONNECT_SECONDS)
    async with Bus.connect(settings) as bus:
        await require_streams(bus)
        return "all streams exist"


async def _database(platform: PlatformSettings) -> str:
    async with prepared_database(platform.database_url, connections=1):
        return "all tables exist"


async def _index(platform: PlatformSettings, pipeline: PipelineSettings, retrieval: RetrievalSettings) -> str:
    if pipeline.retrieval_scope != "corpus":
        return "not needed: battles are searched in their own pages"
    if retrieval.retrieval_index == "pgvector":
        return "in PostgreSQL"
    async with prepared_database(platform.database_url, connections=1) as database:
        count = await Chunks(database).count(MAX_CHUNKS + 1)
    if count > MAX_CHUNKS:
        raise RuntimeError(f"more than {MAX_CHUNKS:,} chunks are too many to search in memory: {REMEDY}")
    return f"{count:,} chunks, in memory"


async def _model(llm: LLMSettings) -> str:
    if llm.offline:
        return "offline heuristics (neither OPENAI_API_KEY nor NUGGETSTREAM_LLM_BASE_URL is set)"
    import httpx2  # with the extra llm, which images of stages without model calls do not have

    address = llm.address
    async with httpx2.AsyncClient(timeout=10) as http:
        response = await http.get(address.models_url, params=address.parameters, headers=address.headers)
    if response.is_error:
        raise RuntimeError(f"GET /models answered {response.status_code}")
    return f"answers; the configured model is {llm.model_name}"
