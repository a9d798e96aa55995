"""The settings of the embedding model."""

from typing import Self

from pydantic import SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from services.cli.wiring.settings import NO_MODEL
from services.runtime.llm.address import EndpointAddress
from services.runtime.masking import masked_url


class EmbeddingSettings(BaseSettings):
    """Where the embedding model is.

    Attributes:
        embedding_url: Base URL of an OpenAI-compatible endpoint, such as vLLM, TEI or Infinity; unset to run
            the model in the indexer. User, password and parameters are sent as for chat models.
        embedding_api_key: Key for that endpoint.
        embedding_model: Name of the model to ask for, which an endpoint requires.
    """

    model_config = SettingsConfigDict(env_prefix="NUGGETSTREAM_", env_ignore_empty=True, frozen=True)

    embedding_url: str | None = None
    embedding_api_key: SecretStr | None = None
    embedding_model: str | None = None

    @model_validator(mode="after")
    def _endpoint_has_a_model(self) -> Self:
        if self.embedding_url is None:
            if self.embedding_api_key is not None:
                raise ValueError("set NUGGETSTREAM_EMBEDDING_URL, too: the key has no endpoint")
            return self
        EndpointAddress.of(self.embedding_url, self.key)  # raises when the URL cannot be one
        if self.embedding_model in (None, NO_MODEL):
            raise ValueError(
                "set NUGGETSTREAM_EMBEDDING_MODEL: the model to ask NUGGETSTREAM_EMBEDDING_URL for"
            )
        return self

    @property
    def is_remote(self) -> bool:
        """Whether the model is behind a URL."""
        return self.embedding_url is not None

    @property
    def shown_url(self) -> str | None:
        """The URL without secrets; None where the model runs in the indexer."""
        return None if self.embedding_url is None else masked_url(self.embedding_url)

    @property
    def key(self) -> str | None:
        """The key for the endpoint."""
        return None if self.embedding_api_key is None else self.embedding_api_key.get_secret_value()
