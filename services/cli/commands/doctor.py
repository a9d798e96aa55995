"""`nuggetstream doctor`: what is installed, what is configured, and what answers."""

import asyncio
import importlib.util
from collections.abc import Awaitable, Callable
from dataclasses import replace

import click

from services.cli.prepared import streams_are_there, tables_are_there
from services.cli.process import read_settings
from services.cli.record import open_record
from services.cli.settings import (
    PipelineSettings,
    PlatformSettings,
    embedded_pipeline,
)
from services.runtime.bus import Bus
from services.runtime.llm.settings import LLMSettings
from services.runtime.nats_server import NatsServerMissing, find_binary

Check = Callable[[], Awaitable[str]]

_BROKER_ANSWERS_WITHIN = 4.0  # seconds

_EXTRAS = {
    "sentence_transformers": "dense vectors (extra: dense)",
    "trafilatura": "reading HTML (extra: scraper)",
    "faiss": "vector search (extra: retriever)",
    "fastapi": "the gateway (extra: gateway)",
    "openai": "talking to a model (extra: llm)",
    "asyncpg": "PostgreSQL (extra: postgres)",
}


@click.command("doctor")
@click.option("--embedded", is_flag=True, help="Leave out the broker and database of separate services.")
def command(embedded: bool) -> None:
    """Check installation and configuration; exit 1 when something needed is missing."""
    platform = read_settings(PlatformSettings)
    llm = read_settings(LLMSettings)
    pipeline = read_settings(PipelineSettings)
    pipeline = embedded_pipeline(pipeline) if embedded else pipeline
    for module, purpose in _EXTRAS.items():
        there = importlib.util.find_spec(module) is not None
        click.echo(f"{'ok  ' if there else '--  '} {module}: {purpose}")
    checks: dict[str, Check] = {"nats-server": _broker_binary, "model": lambda: _model(llm)}
    checks["embeddings"] = lambda: _embeddings(pipeline)
    if not embedded:
        checks |= {"broker": lambda: _broker(platform), "database": lambda: _database(platform)}
    failed = asyncio.run(_run(checks))
    if failed:
        raise SystemExit(1)


async def _run(checks: dict[str, Check]) -> int:
    failed = 0
    for name, check in checks.items():
        try:
            click.echo(f"ok   {name}: {await check()}")
        except Exception as error:
            failed += 1
            click.echo(f"FAIL {name}: {str(error) or type(error).__name__}")
    return failed


async def _embeddings(pipeline: PipelineSettings) -> str:
    if not pipeline.has_embedder:
        return "none: evidence is ranked by BM25 alone"
    if importlib.util.find_spec("sentence_transformers") is None:
        raise RuntimeError(
            f"{pipeline.embedding_model} needs the extra dense; or set NUGGETSTREAM_EMBEDDING_MODEL=none"
        )
    return pipeline.embedding_model


async def _broker_binary() -> str:
    try:
        return str(find_binary())
    except NatsServerMissing:
        return "no binary for embedded mode (extra: broker); a separate broker needs none"


async def _broker(platform: PlatformSettings) -> str:
    settings = replace(platform.bus("doctor"), connect_within=_BROKER_ANSWERS_WITHIN)
    async with Bus.connect(settings) as bus:
        await streams_are_there(bus)
        return f"{platform.nats_url}, all streams there"


async def _database(platform: PlatformSettings) -> str:
    database = open_record(platform.database_url)
    try:
        await tables_are_there(database)
        return f"{database.engine.url.render_as_string(hide_password=True)}, all tables there"
    finally:
        await database.close()


async def _model(llm: LLMSettings) -> str:
    if llm.offline:
        return "offline heuristics (neither OPENAI_API_KEY nor NUGGETSTREAM_LLM_BASE_URL is set)"
    import httpx2  # with the extra llm; images of stages that ask no model do without

    headers = {"authorization": f"Bearer {llm.api_key.get_secret_value()}"} if llm.api_key else {}
    async with httpx2.AsyncClient(timeout=10) as http:
        response = await http.get(f"{llm.url}/models", headers=headers)
    if response.is_error:
        raise RuntimeError(f"{llm.url}/models answered {response.status_code}")
    return f"{llm.model_name} at {llm.url}"
