"""The connections and settings from which the wiring of each service builds it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from services.cli.wiring.access_settings import AccessSettings
from services.cli.wiring.dry_run_endpoints import DryRunEndpoints
from services.cli.wiring.embedding import Model
from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.entry_settings import EntrySettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.process import read_settings
from services.cli.wiring.retrieval import RetrievalSettings
from services.cli.wiring.settings import PipelineSettings, PlatformSettings
from services.cli.wiring.tuning import BATCHED_BATTLES
from services.runtime.bus import Bus
from services.runtime.disk import Check
from services.runtime.llm.limiter import Limits
from services.runtime.llm.settings import LLMSettings
from services.store.content.blobs import Blobs
from services.store.database import Database

if TYPE_CHECKING:
    from services.retriever.reranking import Reranking
    from services.runtime.llm.batches.transport import Batches
    from services.runtime.llm.build import ASGIApp


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """How a process serves, evaluates battles and asks models.

    Attributes:
        pipeline: How battles are evaluated.
        fetch: Settings of the scraper.
        llm: Settings of the model.
        host: Address that the gateway binds to.
        http_port: HTTP port of the gateway; 0 takes a free one.
        allowed_hosts: Names that the gateway answers to beside those of loopback and `host`.
        access: Who may use the gateway and the rater.
        entry: Which battles the gateway accepts for evaluation.
        batches: Where model calls wait for a batch; None where each is made at once.
        retrieval: How the retriever searches.
        embedding: Where the embedding model is, and how it is computed.
        kept_vectors: File with vectors of a model in this process, for the next run; None to keep none.
        dry_run: What answers in place of endpoints in a dry run; None where they are asked.
        replayed: Archive of pages that answers instead of the web; None to fetch them.
    """

    pipeline: PipelineSettings
    fetch: FetchSettings
    llm: LLMSettings
    host: str = "127.0.0.1"
    http_port: int = 0
    allowed_hosts: Sequence[str] = ()
    access: AccessSettings = field(default_factory=AccessSettings)
    entry: EntrySettings = field(default_factory=EntrySettings)
    batches: "Batches | None" = None
    retrieval: RetrievalSettings = field(default_factory=lambda: read_settings(RetrievalSettings))
    embedding: EmbeddingSettings = field(default_factory=lambda: read_settings(EmbeddingSettings))
    kept_vectors: Path | None = None
    dry_run: DryRunEndpoints | None = None
    replayed: Path | None = None

    @property
    def battles_at_once(self) -> int:
        """Number of battles that a stage with model calls handles at once."""
        return max(1, self.llm.concurrency // 2) if self.batches is None else BATCHED_BATTLES


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(Configuration):
    """The connections and settings from which services are built.

    Attributes:
        bus: The service's connection to the broker.
        database: The database.
        platform: Addresses of the other services.
        checks: Find problems that prevent work, such as a full disk; then the gateway accepts no battles.
        has_broker: Whether this process runs the broker, and declares its streams.
        fresh_replies: Whether models are asked again, whatever they replied before, and no call is logged.
        embedder: The embedding model, where it is open already; the indexer opens it otherwise.
        reranking: The reranker of the retriever, which is loaded; None for other services and without one.
        limits: Limits of calls at once, which all services of a process share.
    """

    bus: Bus
    database: Database
    platform: PlatformSettings
    checks: Sequence[Check] = ()
    has_broker: bool = False
    fresh_replies: bool = False
    embedder: Model | None = None
    reranking: "Reranking | None" = None
    limits: Limits = field(default_factory=Limits)

    @property
    def stand_in(self) -> "ASGIApp | None":
        """What answers in place of the endpoint of the embedding model."""
        return None if self.dry_run is None else self.dry_run.endpoints

    @property
    def blobs(self) -> Blobs:
        """The page store."""
        return Blobs(self.database)
