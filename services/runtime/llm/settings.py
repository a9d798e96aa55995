"""Settings of the model: environment variables, read once and passed to `build`.

NUGGETSTREAM_LLM_API_KEY (or OPENAI_API_KEY), NUGGETSTREAM_LLM_BASE_URL (or OPENAI_BASE_URL),
NUGGETSTREAM_LLM_MODEL, and one variable per field below with the same prefix.
"""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Self

from pydantic import AliasChoices, Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from services.runtime.llm.address import EndpointAddress
from services.runtime.llm.budget import Budget, Limit
from services.runtime.llm.circuit import PATIENCE_S
from services.runtime.llm.prices import OFFLINE_MODEL, PriceTable
from services.runtime.llm.prompt import TASKS, PromptOverrides
from services.runtime.llm.stage_models import EVERY, StageModel
from services.runtime.masking import secrets_in

_PREFIX = "NUGGETSTREAM_LLM_"
_TIMEOUT_S = 60.0
OPENAI_URL = "https://api.openai.com/v1"


class LLMSettings(BaseSettings):
    """Where the model is, how long to wait for it, and what it may cost.

    Attributes:
        api_key: Key for the endpoint. Without a key and a base URL, the offline model answers everything.
        base_url: URL of the endpoint; OpenAI's by default. Its user and password are sent as Basic
            authorization, and its parameters with every request.
        model: Name of the model to ask for; required unless offline.
        concurrency: Largest number of calls at once; the actual limit is learnt (see `limiter`).
        battle_tokens: Budget of tokens per battle; unlimited if unset.
        battle_money: Budget of money per battle, in the currency of the price file, which it requires.
        day_tokens: Budget of tokens per day (UTC); unlimited if unset.
        day_money: Budget of money per day, in the currency of the price file, which it requires.
        stages: Parameters of all calls ("*"), and what differs per stage or evaluator, as JSON (see
            `stage_models`).
        fallback: Endpoint that is asked while the first is away, as JSON; the first's key is never sent to
            it.
        prices: Price file, TOML or JSON (see `prices`).
        prompts: Folder of prompt overrides (see `prompt.PromptOverrides`).
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_ignore_empty=True, populate_by_name=True, extra="ignore", frozen=True
    )

    api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices(f"{_PREFIX}API_KEY", "OPENAI_API_KEY")
    )
    base_url: str | None = Field(
        default=None, validation_alias=AliasChoices(f"{_PREFIX}BASE_URL", "OPENAI_BASE_URL")
    )
    model: str | None = None
    concurrency: int = Field(default=64, ge=1)
    battle_tokens: int | None = Field(default=None, ge=0)
    battle_money: Decimal | None = Field(default=None, ge=0)
    day_tokens: int | None = Field(default=None, ge=0)
    day_money: Decimal | None = Field(default=None, ge=0)
    stages: Annotated[dict[str, StageModel], NoDecode] = Field(default_factory=dict)
    fallback: Annotated[StageModel | None, NoDecode] = None
    prices: Path | None = None
    prompts: Path | None = None

    @field_validator("stages", "fallback", mode="before")
    @classmethod
    def _are_json(cls, value: object) -> object:
        try:
            return json.loads(value) if isinstance(value, str) else value
        except ValueError as error:
            raise ValueError(f"is not JSON: {error}") from error

    @model_validator(mode="after")
    def _parameters_name_no_endpoint(self) -> Self:
        if self.parameters.update():
            raise ValueError(
                f"the model, URL and key of all stages are {_PREFIX}MODEL, …BASE_URL and …API_KEY"
            )
        return self

    @model_validator(mode="after")
    def _fallback_has_an_address(self) -> Self:
        if self.fallback is not None and self.fallback.base_url is None:
            raise ValueError(f"{_PREFIX}FALLBACK has no base_url")
        if self.fallback is not None and self.offline:
            raise ValueError(f"a fallback needs a first endpoint: set {_PREFIX}BASE_URL or {_PREFIX}API_KEY")
        return self

    def at_fallback(self) -> Self | None:
        """The same settings with the fallback as the endpoint; None where there is none."""
        if self.fallback is None:
            return None
        return self._with(self.fallback).model_copy(update={"fallback": None})

    def for_stage(self, name: str) -> Self:
        """The same settings with what differs for a stage or an evaluator."""
        own = self.stages.get(name)
        if own is None:
            return self
        return self._with(own)

    def _with(self, own: StageModel) -> Self:
        return self.model_copy(update={**own.update(), "stages": {EVERY: own.over(self.parameters)}})

    def of_model(self, name: str) -> Self:
        """The same settings with another model, which is asked for decisions, too."""
        parameters = self.parameters.model_copy(update={"decision_model": None})
        return self.model_copy(update={"model": name, "stages": {EVERY: parameters}})

    @property
    def parameters(self) -> StageModel:
        """Parameters of calls that no stage or evaluator replaces."""
        return self.stages.get(EVERY, StageModel())

    @property
    def timeout_s(self) -> float:
        """Seconds of silence that the endpoint may always have; a slow one has more (see `speed`)."""
        return self.parameters.timeout_s or _TIMEOUT_S

    @property
    def patience_s(self) -> float:
        """Seconds that a battle waits for a model that is away, before it fails."""
        given = self.parameters.patience_s
        return PATIENCE_S if given is None else given

    @property
    def of_stages(self) -> dict[str, StageModel]:
        """What differs, by stage or evaluator."""
        return {name: own for name, own in self.stages.items() if name != EVERY}

    def _others(self) -> list[Self]:
        """The settings of the fallback and of the stages that have their own."""
        fallback = self.at_fallback()
        return [*([] if fallback is None else [fallback]), *(self.for_stage(name) for name in self.of_stages)]

    @property
    def offline(self) -> bool:
        """Whether no endpoint is configured, so that the offline model answers."""
        return self.api_key is None and self.base_url is None

    @property
    def url(self) -> str:
        """URL that requests are sent to; offline only a placeholder, because nothing leaves the process."""
        return "http://offline.invalid/v1" if self.offline else self.base_url or OPENAI_URL

    @property
    def address(self) -> EndpointAddress:
        """Where requests are sent, and the credentials that go with them.

        Raises:
            ValueError: The base URL is not one of an endpoint.
        """
        return EndpointAddress.of(self.url, self.api_key.get_secret_value() if self.api_key else None)

    def secrets(self) -> list[str]:
        """What must not appear in a log or a failure: the key, and the credentials of the base URL."""
        pair = self.address.headers.get("Authorization", "").partition(" ")[2]
        key = [self.api_key.get_secret_value()] if self.api_key else []
        others = [secret for other in self._others() for secret in other.secrets()]
        return [*key, *secrets_in(self.url), *([pair] if pair else []), *others]

    @property
    def model_name(self) -> str:
        """Name of the model to ask for.

        Raises:
            ValueError: An endpoint is configured but no model.
        """
        if self.offline:  # members of a panel are told apart, as their models would be
            return self.model if self.model and self.model.startswith(f"{OFFLINE_MODEL}:") else OFFLINE_MODEL
        if self.model is None:
            raise ValueError(f"an endpoint is configured but no model: set {_PREFIX}MODEL")
        return self.model

    def for_decisions(self) -> Self:
        """The same settings with the model for decisions."""
        return self.model_copy(update={"model": self.parameters.decision_model or self.model})

    def price_table(self) -> PriceTable:
        """The operator's prices.

        Raises:
            ValueError: A money budget is set but the model has no price, so the budget could not be enforced.
        """
        table = PriceTable() if self.prices is None else PriceTable.load(self.prices)
        wants_money = self.battle_money is not None or self.day_money is not None or table.limits_money
        for asked in (self, *self._others()):
            if wants_money and table.price_of(asked.model_name) is None:
                raise ValueError(f"a money budget needs a price for {asked.model_name}: set {_PREFIX}PRICES")
        return table

    def budget(self) -> Budget:
        """The limits per battle and per day."""
        return Budget(Limit(self.battle_tokens, self.battle_money), Limit(self.day_tokens, self.day_money))

    def overrides(self, tasks: Sequence[str] = TASKS) -> PromptOverrides:
        """The operator's prompt overrides; a file that names none of the tasks is an error."""
        return PromptOverrides() if self.prompts is None else PromptOverrides.load(self.prompts, tasks)
