"""The settings of the platform, read from environment variables. Each service gets only its own part."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated, Literal

import grpc
from pydantic import AfterValidator, Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.names import Names
from services.runtime.bus import BusSettings
from services.runtime.packaged_model import PACKAGED_MODEL, packaged_files
from services.runtime.rpc_tls import Certificates
from services.store import DEFAULT_CONNECTIONS
from services.wire.evaluators import EVALUATORS, can_be_awaited, require_evaluators
from services.wire.topology import SMALLEST_STREAM_BYTES, STREAM_BYTES

NO_MODEL = "none"
_HOURS = 1_000_000.0  # more than a century: any time


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)


class PlatformSettings(_Settings):
    """Addresses of the broker, the database, and the services that other services call.

    Attributes:
        nats_url: URL of the broker, or several URLs separated by commas; with a token as their user.
        nats_user: User name, if the broker requires one.
        nats_password: Password of that user.
        nats_credentials: File with a user's JWT and key, if the broker requires it.
        nats_tls_ca: Certificates to trust, if the broker uses TLS with its own authority.
        nats_replicas: Copies of every stream; 3 in production.
        nats_stream_bytes: Size of all streams together, in bytes per copy.
        evaluators: Names of evaluators and of additional judges, separated by commas; none by default.
        database_url: SQLAlchemy URL of the database.
        admin_token: Token of administrators, at least 16 characters. Without one, administrators' routes are
            only served to programs on the same machine.
        database_max_bytes: Size in bytes that the database may have, for the metric of the bytes left.
        database_connections: Connections to PostgreSQL that a process opens at most.
        call_log_days: Days for which model calls are logged, with prompts and replies; 0 logs none.
        indexer_address: Address of the indexer's gRPC as "host:port".
        rater_address: Address of the rater's gRPC as "host:port".
        grpc_tls_dir: Folder with `tls.crt`, `tls.key` and `ca.crt` for gRPC; without one it is plain text.
    """

    nats_url: str = "nats://127.0.0.1:4222"
    nats_user: str | None = None
    nats_password: str | None = Field(None, repr=False)
    nats_credentials: Path | None = None
    nats_tls_ca: Path | None = None
    nats_replicas: int = Field(1, ge=1, le=5)
    nats_stream_bytes: int = Field(STREAM_BYTES, ge=SMALLEST_STREAM_BYTES)
    evaluators: Annotated[Names, AfterValidator(require_evaluators)] = ()
    database_url: str = "sqlite+aiosqlite:///nuggetstream.db"
    admin_token: str | None = Field(None, min_length=16, repr=False)
    database_max_bytes: int | None = Field(None, ge=1)
    database_connections: int = Field(DEFAULT_CONNECTIONS, ge=1)
    call_log_days: float = Field(7.0, ge=0, le=36_500)
    indexer_address: str = "127.0.0.1:7102"
    rater_address: str = "127.0.0.1:7107"
    grpc_tls_dir: Path | None = None

    @property
    def certificates(self) -> Certificates | None:
        """The certificate of the services; None where gRPC is plain text.

        Raises:
            ValueError: A file is missing.
        """
        if self.grpc_tls_dir is None:
            return None
        certificates = Certificates(self.grpc_tls_dir)
        if missing := certificates.missing():
            raise ValueError(f"NUGGETSTREAM_GRPC_TLS_DIR: {self.grpc_tls_dir} has no {', '.join(missing)}")
        return certificates

    @property
    def channel_security(self) -> grpc.ChannelCredentials | None:
        """What calls of other services are made with; None where gRPC is plain text."""
        return None if self.certificates is None else self.certificates.client()

    def bus(self, name: str) -> BusSettings:
        """The settings of a connection to the broker.

        Args:
            name: Name of the process or service in the broker's monitoring.
        """
        return BusSettings(
            servers=tuple(url.strip() for url in self.nats_url.split(",")),
            name=name,
            user=self.nats_user,
            password=self.nats_password,
            credentials=self.nats_credentials,
            tls_ca=self.nats_tls_ca,
        )


class PipelineSettings(_Settings):
    """How battles are evaluated. Settings that change a result are part of the ids derived from it.

    Attributes:
        profile: "live", "paper" to follow Search Arena Meets Nuggets call by call, "frugal" to ask for
            decisions, with probabilities, wherever nothing has to be written, or "small" to ask a small model
            for them, nugget by nugget.
        embedding_model: A sentence-transformers model, or "none" to rank by BM25 alone.
        chunk_sentences: Sentences per chunk; it shares a fifth of them with the one before.
        retrieval_scope: "battle" (reproducible) or "corpus" (as in the paper).
        evidence_limit: Maximum number of chunks of evidence per battle.
        nugget_sources: Documents that nuggets are created from.
        nugget_limit: Maximum number of nuggets per battle.
        evidence_characters: Maximum number of characters of the chunks that nuggets are created from: the
            sentences that resemble the query or an answer most, if there are over twice as many. The judge
            is shown half as many. 0 for all, as in the paper profile.
        nugget_lens: Preference by nuggets that boards and explanations show: on all, or on grounded ones.
        nugget_bank_hours: Hours for which battles of one arena with the same query and evidence share nuggets
            and labels; "inf" for any time, 0 for never, the default but in `eval`. Not in the paper profile.
        judge_evaluator: The judge that battles wait for: an evaluator that yields a verdict from evidence.
        evaluator_options: TOML file with the battles, budgets, models and further options of evaluators.
        canary_seconds: Seconds between two runs of the canary battles by each judge and model; 0 for none.
        tie_policy: How ties count in the ratings.
    """

    profile: Literal["live", "paper", "frugal", "small"] = "live"
    embedding_model: str = PACKAGED_MODEL
    chunk_sentences: int = Field(10, ge=1)
    retrieval_scope: Literal["battle", "corpus"] = "battle"
    evidence_limit: int = Field(50, ge=1, le=1000)
    nugget_sources: Literal["both", "answers", "chunks"] = "both"
    nugget_limit: int = Field(30, ge=1, le=100)
    evidence_characters: int = Field(7_000, ge=0)
    nugget_lens: Literal["nugget", "grounded"] = "nugget"
    nugget_bank_hours: float | None = Field(None, ge=0)
    judge_evaluator: str = "pairwise"
    evaluator_options: Path | None = None
    canary_seconds: float = Field(0.0, ge=0)
    tie_policy: Literal["half", "drop_both_bad", "drop"] = "half"

    @field_validator("judge_evaluator")
    @classmethod
    def _evaluator_exists(cls, name: str) -> str:
        if not can_be_awaited(name):
            independent = sorted(filter(can_be_awaited, EVALUATORS))
            raise ValueError(f"there is no evaluator {name!r}; choose one of {', '.join(independent)}")
        return name

    @property
    def decides(self) -> bool:
        """Whether labels and verdicts are decisions."""
        return self.profile in ("frugal", "small")

    @property
    def shares_nuggets(self) -> bool:
        """Whether battles share nugget lists and labels."""
        return bool(self.nugget_bank_hours) and self.profile != "paper"

    @property
    def nugget_bank_age(self) -> timedelta | None:
        """How long battles join a nugget list after its creation; None for any time."""
        hours = self.nugget_bank_hours or 0.0
        return None if hours > _HOURS else timedelta(hours=hours)

    @property
    def chunk_overlap(self) -> int:
        """Sentences that a chunk shares with the one before."""
        return self.chunk_sentences // 5

    def excerpted(self, part: int = 1) -> int | None:
        """The characters of the evidence that are shown, or a part of so many; None shows all."""
        if not self.evidence_characters or self.profile == "paper":
            return None
        return max(1, self.evidence_characters // part)

    @property
    def has_embedder(self) -> bool:
        """Whether chunks get vectors."""
        return self.embedding_model != NO_MODEL


class ServerSettings(_Settings):
    """Where a process listens, and how it logs.

    The address is loopback by default. One that other machines can reach needs API keys, see
    `AccessSettings`.

    Attributes:
        host: Address to bind to; also that of the metrics, which need no key.
        allowed_hosts: Host names that the gateway answers to beside those of loopback and `host`, separated
            by commas.
        grace: Seconds that work in flight gets after SIGTERM.
        log_format: "console" for people, "json" for machines.
        log_level: Lowest level that is logged.
    """

    host: str = "127.0.0.1"
    allowed_hosts: Names = ()
    grace: float = 20.0
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def embedded_model() -> str:
    """The embedding model of embedded mode: the packaged one, or none where it is not installed."""
    return NO_MODEL if packaged_files() is None else PACKAGED_MODEL


def embedded_pipeline(pipeline: PipelineSettings) -> PipelineSettings:
    """The settings for embedded mode, which runs without the default embedding model where it is missing."""
    if "embedding_model" in pipeline.model_fields_set:
        return pipeline
    return pipeline.model_copy(update={"embedding_model": embedded_model()})


def ranking_of(pipeline: PipelineSettings) -> str:
    """By what evidence is ranked in embedded mode, for people; without vectors, why."""
    if pipeline.has_embedder:
        return f"BM25 and vectors by {pipeline.embedding_model}"
    if embedded_model() == NO_MODEL:
        return "BM25 alone: no embedding model is installed"
    return "BM25 alone: NUGGETSTREAM_EMBEDDING_MODEL is none"
