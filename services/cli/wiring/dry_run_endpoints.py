"""The configuration of a dry run: a real run's, but no model's endpoint is asked, and one folder written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.cli.wiring.embedding_settings import EmbeddingSettings
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.retrieval import RetrievalSettings
from services.runtime.llm.prices import OFFLINE_MODEL
from services.runtime.llm.settings import LLMSettings
from services.runtime.llm.stage_models import EVERY, StageModel

if TYPE_CHECKING:
    from services.runtime.llm.build import ASGIApp

_URL = "http://offline.invalid/v1"  # a name without an address, should a request ever leave the process
_UNSET = (
    "api_key", "base_url", "fallback", "model", "prices",
    "battle_tokens", "battle_money", "day_tokens", "day_money",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DryRunEndpoints:
    """What answers in place of endpoints.

    Attributes:
        endpoints: Answers in place of those of the embedding model and of the reranker.
        chat_embeds: Whether the offline chat model compares sentences by the embedding model. In a dry run it
            stands for a model that asks for no vectors.
    """

    endpoints: "ASGIApp"
    chat_embeds: bool


def dry_run_endpoints(llm: LLMSettings) -> DryRunEndpoints:
    """The application that answers, for the configured chat model."""
    from services.offline.ranking import create_ranking_app

    return DryRunEndpoints(create_ranking_app(), chat_embeds=llm.offline)


def offline_llm(llm: LLMSettings) -> LLMSettings:
    """The offline model in place of all chat models; calls of a model for decisions name it."""
    stages = {
        name: StageModel(decision_model=_decided_by(llm.for_stage(name)))
        for name, own in llm.stages.items()
        if own.decision_model or name not in (EVERY, "nuggetizer")
    }
    return llm.model_copy(update={**dict.fromkeys(_UNSET), "stages": stages})


def offline_embedding(embedding: EmbeddingSettings) -> EmbeddingSettings:
    """An endpoint that is answered in this process, in place of any embedding model."""
    return embedding.model_copy(update={"embedding_url": _URL, "embedding_api_key": None})


def offline_retrieval(retrieval: RetrievalSettings) -> RetrievalSettings:
    """The same for the reranker."""
    if retrieval.rerank_model is None:
        return retrieval
    return retrieval.model_copy(update={"rerank_url": _URL, "rerank_api_key": None})


def unarchived(fetch: FetchSettings) -> FetchSettings:
    """Pages as in a real run, of which no archive is written."""
    return fetch.model_copy(update={"scraper_archive_dir": None})


def own_models(llm: LLMSettings) -> Mapping[str, str | None]:
    """The chat model of each stage and evaluator that has its own."""
    return {name: stage.model for name, stage in llm.of_stages.items()}


def _decided_by(llm: LLMSettings) -> str:
    return f"{OFFLINE_MODEL}:{llm.for_decisions().model_name}"
