"""The wiring of all services: one function per service, from settings and connections to a `Service`.

Each function imports its service when it is called, so that a process loads only what it runs.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import INDEPENDENT, Lens
from nuggetstream.ratings.fitting.tally import TiePolicy
from services.cli.access_parts import rater_guard
from services.cli.access_settings import AccessSettings
from services.cli.embedding import EmbeddingSettings, Model
from services.cli.fetch_settings import FetchSettings
from services.cli.own_consumer import own_consumer
from services.cli.process import read_settings
from services.cli.rehearsal import Rehearsal
from services.cli.reranking import open_variations
from services.cli.retrieval import RetrievalSettings, open_index, preparations
from services.cli.settings import PipelineSettings, PlatformSettings
from services.cli.shared_parts import (
    consumer_watch,
    model_state,
    open_chat_model,
    open_decision_model,
    open_embedder,
    shared_labels,
)
from services.gateway.battles.entry_filter import EntryFilter
from services.runtime.bus import Bus
from services.runtime.disk import Check
from services.runtime.llm.batches.transport import Batches
from services.runtime.llm.settings import LLMSettings
from services.runtime.service import Service
from services.runtime.stage import Stage
from services.store.blobs import Blobs
from services.store.database import Database

if TYPE_CHECKING:
    from services.retriever.reranking import Reranking
    from services.runtime.llm.build import ASGIApp


@dataclass(frozen=True, slots=True)
class Parts:
    """The connections and settings from which services are built.

    Attributes:
        bus: The service's connection to the broker.
        database: The database.
        platform: Addresses of the other services.
        pipeline: How battles are evaluated.
        fetch: Settings of the scraper.
        llm: Settings of the model.
        host: Address to bind to.
        http_port: HTTP port of the gateway.
        allowed_hosts: Names that the gateway answers to beside those of loopback and `host`.
        access: Who may use the gateway and the rater.
        entry: Which battles the gateway accepts for evaluation.
        checks: Find problems that prevent work, such as a full disk; then the gateway accepts no battles.
        fresh_replies: Whether models are asked again, whatever they replied before, and no call is logged.
        batches: Where model calls wait for a batch; None where each is made at once.
        retrieval: How the retriever searches.
        embedding: Where the embedding model is.
        embedder: The embedding model, where it is open already; the indexer opens it otherwise.
        rehearsal: What answers in place of endpoints in a dry run; None where they are asked.
        reranking: The reranker of the retriever, which is loaded; None for other services and without one.
    """

    bus: Bus
    database: Database
    platform: PlatformSettings
    pipeline: PipelineSettings
    fetch: FetchSettings
    llm: LLMSettings
    host: str = "127.0.0.1"
    http_port: int = 0
    allowed_hosts: Sequence[str] = ()
    access: AccessSettings = field(default_factory=AccessSettings)
    entry: EntryFilter = field(default_factory=EntryFilter)
    checks: Sequence[Check] = ()
    fresh_replies: bool = False
    batches: Batches | None = None
    retrieval: RetrievalSettings = field(default_factory=lambda: read_settings(RetrievalSettings))
    embedding: EmbeddingSettings = field(default_factory=lambda: read_settings(EmbeddingSettings))
    embedder: Model | None = None
    rehearsal: Rehearsal | None = None
    reranking: "Reranking | None" = None

    @property
    def stand_in(self) -> "ASGIApp | None":
        """What answers in place of the endpoint of the embedding model."""
        return None if self.rehearsal is None else self.rehearsal.endpoints

    @property
    def blobs(self) -> Blobs:
        """The page store."""
        return Blobs(self.database)


Open = Callable[[Parts], AbstractAsyncContextManager[Service]]


@asynccontextmanager
async def open_scraper(parts: Parts) -> AsyncIterator[Service]:
    """The scraper: fetches sources."""
    from services.cli.scraper_stage import open_scraper_stage

    async with open_scraper_stage(parts) as (stage, watches):
        yield Service(name="scraper", stages=[stage], background=watches)


@asynccontextmanager
async def open_indexer(parts: Parts) -> AsyncIterator[Service]:
    """The indexer: cuts pages into chunks and embeds them; it runs or asks the embedding model."""
    from services.cli.indexer_stage import open_indexer_service

    async with open_indexer_service(parts) as service:
        yield service


@asynccontextmanager
async def open_retriever(parts: Parts) -> AsyncIterator[Service]:
    """The retriever: finds evidence."""
    from services.retriever.grpc_service import retrieval_service
    from services.retriever.search import Scope, Searcher
    from services.retriever.stage import Retriever, build

    scope, limit = Scope(parts.pipeline.retrieval_scope), parts.pipeline.evidence_limit
    async with (
        open_embedder(parts) as embedder,
        open_embedder(parts, store=True) as storing,
        open_variations(parts) as variations,
    ):
        model = None if embedder is None else embedder.model
        index = await open_index(parts.retrieval, parts.database, model)
        minimum = parts.retrieval.retrieval_min_similarity
        searcher = Searcher.of(parts.database, embedder, index, minimum, parts.reranking, storing=storing)
        retriever = Retriever(searcher, scope, limit, variations)
        stages = [build(retriever, parts.blobs)]
        yield Service(
            name="retriever",
            stages=stages,
            rpcs=[retrieval_service(searcher)],
            first=preparations(retriever),
            background=[index.keep_saved],
        )


@asynccontextmanager
async def open_nuggetizer(parts: Parts) -> AsyncIterator[Service]:
    """The nuggetizer: creates nuggets."""
    from services.cli.nuggetizer_stage import open_nuggetizer_stage

    async with open_nuggetizer_stage(parts) as (stage, watches):
        yield Service(name="nuggetizer", stages=[stage], background=watches)


@asynccontextmanager
async def open_assigner(parts: Parts) -> AsyncIterator[Service]:
    """The assigner: labels nuggets."""
    from services.assigner.stage import Assigner, build
    from services.cli.label_models import labels_of_profile, open_label_models

    llm = parts.llm.for_stage("assigner")
    async with (
        open_chat_model(parts, llm) as model,
        open_decision_model(parts, llm) as decisions,
        open_label_models(parts, llm) as models_of,
    ):
        shared, profile = shared_labels(parts, model.overrides.key), labels_of_profile(parts)
        assigner = Assigner(model=model, decisions=decisions, shared=shared, models_of=models_of, **profile)
        stage = build(assigner, parts.blobs, concurrency=parts.pipeline.llm_stage_concurrency)
        yield Service(
            name="assigner",
            stages=[stage],
            background=[model_state(parts.bus, stage.name, decisions or model)],
        )


@asynccontextmanager
async def open_judge(parts: Parts) -> AsyncIterator[Service]:
    """The judge: compares answers. Its processes also run the evaluators."""
    from services.cli.canary import canary_watch
    from services.cli.graders import open_graders, runs_graders
    from services.cli.judge_stage import open_judge_stage

    pipeline, judges = parts.pipeline, parts.platform.declared_judges
    consumer = await own_consumer(parts.bus, judges, pipeline.evaluator)
    async with AsyncExitStack() as opened:
        stage, watches = await opened.enter_async_context(open_judge_stage(parts, consumer, judges.several))
        graders: list[Stage[Any, Any]] = []
        if runs_graders(parts.platform, pipeline.evaluator):
            graders = await opened.enter_async_context(open_graders(parts))
        yield Service(
            name="judge",
            stages=[stage, *graders],
            background=[*watches, *canary_watch(parts)],
        )


@asynccontextmanager
async def open_rater(parts: Parts) -> AsyncIterator[Service]:
    """The rater: counts outcomes and rates systems."""
    from services.rater.announcer import Announcer
    from services.rater.boards import Boards
    from services.rater.grpc_service import ratings_service
    from services.rater.stage import Rater, build
    from services.rater.warming import Warming
    from services.store.battles import Battles
    from services.store.outcomes import Outcomes
    from services.wire.publishing import publisher

    outcomes, battles = Outcomes(parts.database), Battles(parts.database)
    announcer = Announcer(outcomes=outcomes, publish=publisher(parts.bus, parts.blobs))
    policy, resamples = TiePolicy(parts.pipeline.tie_policy), parts.pipeline.resamples
    flagged = Flagged(parts.pipeline.flagged_battles)
    boards = Boards(outcomes=outcomes, battles=battles, policy=policy, resamples=resamples, flagged=flagged)
    stages = [build(Rater(battles, outcomes, announcer), parts.blobs)]
    lenses = [Lens(parts.pipeline.nugget_lens) if lens is Lens.NUGGET else lens for lens in INDEPENDENT]
    background = [announcer.run, Warming(boards, lenses).run]
    yield Service(
        name="rater",
        stages=stages,
        rpcs=[ratings_service(boards, rater_guard(parts))],
        background=background,
    )


@asynccontextmanager
async def open_recorder(parts: Parts) -> AsyncIterator[Service]:
    """The recorder: stores events, with the mover of exhausted messages and the reconciler of battles."""
    from services.recorder.label_watch import LabelWatch
    from services.recorder.reconciler import reconciler
    from services.recorder.stage import Recorder, build
    from services.runtime.runner import AdvisoryMover
    from services.store.battles import Battles
    from services.store.call_log import CallRetention
    from services.store.claims import DatabaseClaims
    from services.store.eraser import eraser_of
    from services.store.label_agreement import LabelCounts
    from services.store.usage import DatabaseWatch
    from services.wire.stages import failure_of
    from services.wire.topology import MOVER_DEAD, consumers

    judges, nuggetizers = parts.platform.declared_judges, parts.platform.declared_nuggetizers
    battles = Battles(parts.database, judges.names, nuggetizers.names)
    recorder = Recorder(battles, parts.bus.core_publish)
    max_bytes = parts.platform.database_max_bytes
    size = DatabaseWatch(parts.database.engine.url, parts.database.transaction, max_bytes)
    declared = consumers(judges, parts.platform.declared_graders, nuggetizers)
    mover = AdvisoryMover(
        parts.bus, declared, lambda letter: failure_of(letter, parts.blobs, judges, nuggetizers)
    )
    reconciling = reconciler(
        parts.bus,
        parts.database,
        parts.blobs,
        quiet_after=parts.platform.quiet_seconds,
        judges=judges.names,
        nuggetizers=nuggetizers.names,
        graders=parts.platform.declared_graders,
    )
    eraser = eraser_of(parts.bus, parts.database)
    calls = CallRetention(parts.database, timedelta(days=parts.platform.call_log_days))
    labels = LabelWatch(LabelCounts(parts.database))
    watches = [labels.run, consumer_watch(parts.bus).run, size.run, reconciling.run, eraser.run, calls.run]
    if not parts.database.is_sqlite:
        watches.append(DatabaseClaims(parts.database).sweep_regularly)
    stages: list[Stage[Any, Any]] = [build(recorder, parts.blobs), mover.stage(MOVER_DEAD)]
    yield Service(name="recorder", stages=stages, background=watches)
