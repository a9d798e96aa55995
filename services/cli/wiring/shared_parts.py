"""Parts that several services use: the chat model, the embedding model, the watch over the consumers."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from services.runtime.bus import Bus
from services.runtime.embedding import Embedder, from_threads
from services.runtime.lag import ConsumerWatch

if TYPE_CHECKING:
    from nuggetstream.domain.pipeline import Stage
    from services.assigner.shared_labels import SharedLabels
    from services.cli.wiring.parts import Parts
    from services.indexer.remote import RemoteEmbedder
    from services.judge.question_banks import QuestionBanks
    from services.nuggetizer.bank import NuggetBank
    from services.offline.answers import Heuristic
    from services.runtime.llm.call_log import CallLog
    from services.runtime.llm.client import LLMClient
    from services.runtime.llm.prompt import PromptOverrides
    from services.runtime.llm.settings import LLMSettings
    from services.runtime.service import BackgroundTask
    from services.store.database import Database
    from services.store.work.claims import DatabaseClaims


def consumer_watch(bus: Bus) -> ConsumerWatch:
    """The lag of all stages, in two services that report each other's consumers."""
    from services.wire.topology import is_own_consumer, streams

    return ConsumerWatch(bus, [stream.name for stream in streams()], is_own_consumer)


def model_state(bus: Bus, stage: "Stage", model: "LLMClient | RemoteEmbedder") -> "BackgroundTask":
    """Tells the gateway while the first endpoint of the model is away."""
    from services.wire.model_state import ModelStateReporter

    return ModelStateReporter(bus, stage, model.first_away).run


def claims_of(database: "Database") -> "DatabaseClaims | None":
    """Claims that all processes see. SQLite is the database of one machine, where no two run one service."""
    from services.store.work.claims import DatabaseClaims

    return None if database.is_sqlite else DatabaseClaims(database)


def call_log(parts: "Parts") -> "CallLog":
    """The log of model calls, which writes nothing where it is switched off."""
    from services.runtime.llm.call_log import CallLog
    from services.store.spend.call_log import DatabaseCallLog

    return CallLog(DatabaseCallLog(parts.database) if parts.platform.call_log_days else None)


def nugget_bank(parts: "Parts") -> "NuggetBank | None":
    """The nugget lists that battles share; None where every battle has its own."""
    from services.nuggetizer.bank import NuggetBank
    from services.runtime.claims import Claims
    from services.runtime.single_writer import SingleWriter
    from services.store.content.nugget_banks import NuggetLists

    if not parts.pipeline.shares_nuggets:
        return None
    writer = SingleWriter(Claims(claims_of(parts.database)))
    return NuggetBank(NuggetLists(parts.database), parts.pipeline.nugget_bank_age, writer)


def shared_labels(parts: "Parts", prompts: str) -> "SharedLabels | None":
    """The labels that battles share; None where every battle has its own."""
    from services.assigner.shared_labels import SharedLabels
    from services.runtime.claims import Claims
    from services.runtime.single_writer import SingleWriter
    from services.store.content.nugget_banks import NuggetLabels

    if not parts.pipeline.shares_nuggets:
        return None
    return SharedLabels(
        NuggetLabels(parts.database), prompts, SingleWriter(Claims(claims_of(parts.database)))
    )


def question_banks(parts: "Parts", overrides: "PromptOverrides") -> "QuestionBanks":
    """The questions that battles with the same query are graded on."""
    from services.judge.question_banks import QuestionBanks
    from services.runtime.claims import Claims
    from services.runtime.single_writer import SingleWriter
    from services.store.content.question_banks import StoredQuestionBanks

    writer = SingleWriter(Claims(claims_of(parts.database)))
    return QuestionBanks(StoredQuestionBanks(parts.database), overrides, writer)


@asynccontextmanager
async def open_embedder(parts: "Parts", *, store: bool = False) -> AsyncIterator[Embedder | None]:
    """The indexer's embedding model over gRPC; None in a light installation.

    Args:
        parts: Where it is.
        store: Whether the indexer stores the vectors, as those of chunks.
    """
    from services.wire.embedding_client import GrpcEmbedder

    if not parts.pipeline.has_embedder:
        yield None
        return
    model = parts.pipeline.embedding_model
    security = parts.platform.channel_security
    embedder = GrpcEmbedder(parts.platform.indexer_address, model, store=store, security=security)
    try:
        yield embedder
    finally:
        await embedder.close()


@asynccontextmanager
async def open_decision_model(
    parts: "Parts", settings: "LLMSettings | None" = None
) -> AsyncIterator["LLMClient | None"]:
    """The model for decisions, of the settings or else of the parts; None in profiles that ask for none."""
    if not parts.pipeline.decides:
        yield None
        return
    async with open_chat_model(parts, (settings or parts.llm).for_decisions()) as model:
        yield model


@asynccontextmanager
async def open_chat_model(
    parts: "Parts", settings: "LLMSettings | None" = None
) -> AsyncIterator["LLMClient"]:
    """The chat model of the settings, by default those of the parts; without one, the offline model."""
    from services.runtime.llm.build import build_chat_model, with_asgi
    from services.runtime.llm.cache import MemoryReplyCache
    from services.runtime.llm.call_log import CallLog
    from services.runtime.llm.prompt import TASKS
    from services.store.content.blobs import Replies
    from services.store.spend.spend import DatabaseSpendStore

    settings = settings or parts.llm
    async with open_embedder(parts) as embedder:
        http = None
        if settings.offline:
            from services.offline.app import create_app

            compares = parts.dry_run is None or parts.dry_run.chat_embeds
            embed = None if embedder is None or not compares else from_threads(embedder)
            http = with_asgi(create_app(embed, more=_answers_of_evaluators))
        elif parts.batches is not None:
            http = parts.batches.http(settings)
        spend = DatabaseSpendStore(parts.database, settings.price_table().currency)
        model = build_chat_model(
            settings,
            MemoryReplyCache() if parts.fresh_replies else Replies(parts.database),
            spend=spend,
            claims=None if parts.fresh_replies else claims_of(parts.database),
            log=CallLog() if parts.fresh_replies else call_log(parts),
            http=http,
            tasks=TASKS if settings.prompts is None else (*TASKS, *_tasks_of_evaluators()),
            batched=parts.batches is not None,
            limits=parts.limits,
        )
        try:
            yield model
        finally:
            await model.close()


def _tasks_of_evaluators() -> tuple[str, ...]:
    """The tasks that only evaluators have; imported where an operator overrides prompts."""
    from services.judge.registry import heuristics

    return tuple(heuristics())


def _answers_of_evaluators() -> "Mapping[str, Heuristic]":
    """How the offline model answers evaluators; imported by the first task that only they have."""
    from services.judge.registry import heuristics

    return heuristics()
