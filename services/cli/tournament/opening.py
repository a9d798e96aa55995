"""The agents of a plan with what they need: documents, embedding model, chat model, files and endpoints."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

import click

from services.cli.evaluation.asking import open_model
from services.cli.tournament.agents import Agent, SearchingAgent
from services.cli.tournament.collection import Collection
from services.cli.tournament.command_agent import CommandAgent
from services.cli.tournament.documents import Documents, read_collection
from services.cli.tournament.http_agent import HttpAgent
from services.cli.tournament.plan import BuiltIn, Command, Http, Plan, Recorded
from services.cli.tournament.recorded import read_recorded
from services.cli.wiring.embedded import Choices
from services.cli.wiring.embedding import open_model as open_embedding_model
from services.cli.wiring.ledgers import open_exchange
from services.indexer.batching import BatchingEmbedder
from services.indexer.remote import RemoteEmbedder
from services.indexer.storing import StoringEmbedder
from services.retriever.variations import QueryVariations
from services.runtime.embedding import Embedder
from services.runtime.llm.accounting import SpendStore
from services.runtime.llm.client import LLMClient
from services.runtime.llm.exchange import Names
from services.runtime.llm.retries import RetryPolicy
from services.store.content.chunks import Chunks
from services.store.database import Database


@dataclass(frozen=True, slots=True)
class Given:
    """What a tournament is played with.

    Attributes:
        plan: The plan.
        queries: The queries by id.
        documents: The documents; none where no agent needs any.
        choices: How battles are evaluated; contains the models, and batches for their calls if any.
        keys: Variables with the keys of endpoints.
    """

    plan: Plan
    queries: Mapping[str, str]
    documents: Documents
    choices: Choices
    keys: Mapping[str, str] = field(default_factory=lambda: os.environ)


async def documents_of(plan: Plan, choices: Choices) -> Documents:
    """The documents of a plan."""
    if plan.documents is None:
        return Documents()
    return await read_collection(plan.documents, choices.fetch.scraper())


@asynccontextmanager
async def open_agents(
    given: Given, database: Database, spend: SpendStore, *, asks_others: bool = True
) -> AsyncIterator[Mapping[str, Agent]]:
    """The agents by name.

    Args:
        given: What they are given.
        database: Keeps replies and vectors.
        spend: Where calls are booked.
        asks_others: Whether agents are opened that ask an endpoint of their own.

    Raises:
        click.ClickException: An agent lacks something; says what to do.
        UnusableFile: A file of answers cannot be used.
    """
    plan, llm = given.plan, given.choices.llm
    async with AsyncExitStack() as opened:
        agents: dict[str, Agent] = {}
        built_in = [agent for agent in plan.agents.values() if isinstance(agent, BuiltIn)]
        if built_in:
            opening = open_model(llm, spend, database, given.choices.batches)
            model = await opened.enter_async_context(opening)
            searches = any(agent.search != "words" for agent in built_in)
            embedder = await _embedder(given.choices, database, opened) if searches else None
            pipeline = given.choices.pipeline
            collection = await Collection.of(
                given.documents.texts, pipeline.chunk_sentences, pipeline.chunk_overlap, embedder
            )
        for name, agent in plan.agents.items():
            if isinstance(agent, BuiltIn):
                agents[name] = _searching(agent, plan, collection, model)
            elif isinstance(agent, Recorded):
                agents[name] = read_recorded(agent.answers, given.queries, given.documents.texts)
            elif asks_others and isinstance(agent, Command):
                limit = asyncio.Semaphore(llm.concurrency)
                agents[name] = CommandAgent(agent.command, agent.folder, agent.timeout_s, limit)
            elif asks_others and isinstance(agent, Http):
                agents[name] = asked = _http(name, agent, given)
                opened.push_async_callback(asked.exchange.close)
        yield agents


async def _embedder(choices: Choices, database: Database, opened: AsyncExitStack) -> Embedder:
    """The embedding model, whose vectors are stored, as the evaluation of the battles reads them."""
    if not choices.pipeline.has_embedder:
        raise click.ClickException(
            "an agent searches by vectors, and there is no embedding model: install '.[embedding]', set "
            "NUGGETSTREAM_EMBEDDING_MODEL, or let all agents search by words"
        )
    app = None if choices.dry_run is None else choices.dry_run.endpoints
    opening = open_embedding_model(choices.embedding, choices.pipeline, choices.llm, database, app)
    model = await opened.enter_async_context(opening)
    assert model is not None  # noqa: S101 - there is one to open
    batching = model if isinstance(model, RemoteEmbedder) else BatchingEmbedder(model)
    return StoringEmbedder(batching, Chunks(database), cuts=model.cuts)


def _searching(agent: BuiltIn, plan: Plan, collection: Collection, model: LLMClient) -> SearchingAgent:
    return SearchingAgent(
        collection=collection,
        by=agent.search,
        model=model,
        variations=QueryVariations(model, plan.variations) if agent.kind == "rag_fusion" else None,
        passages=plan.passages,
        sentences=plan.sentences,
        prompts=model.overrides.key,
    )


def _http(name: str, agent: Http, given: Given) -> HttpAgent:
    key = None if agent.key_variable is None else given.keys.get(agent.key_variable)
    if agent.key_variable is not None and not key:
        raise click.ClickException(f"agents.{name}.key_variable: {agent.key_variable} is not set")
    llm = given.choices.llm
    names = Names(f"the system {name}", f"agents.{name}.", f"agents.{name}.url")
    exchange = open_exchange(str(agent.url), key, llm.timeout_s, names)
    return HttpAgent(
        exchange=exchange,
        model=agent.model,
        retries=RetryPolicy(),
        patience_s=llm.patience_s,
        at_once=asyncio.Semaphore(llm.concurrency),
    )
