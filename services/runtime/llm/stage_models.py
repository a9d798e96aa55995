"""Parameters of model calls, and the model of one stage or evaluator where it is not the installation's.

NUGGETSTREAM_LLM_STAGES='{"*": {"temperature": "none"},
                          "judge": {"model": "o4-mini", "effort": "low"},
                          "aspects": {"base_url": "http://localhost:8000/v1", "model": "small"}}'
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.runtime.llm.dialect import ModelRequest

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Temperature = float | Literal["none"]
EVERY = "*"
_ADDRESS = ("model", "base_url", "api_key")


class StageModel(BaseModel):
    """What differs for one stage; what is absent is as for all stages.

    Attributes:
        model: Name of the model.
        decision_model: Name of the model for decisions.
        base_url: URL of the endpoint. The key for all stages is not sent to it.
        api_key: Key for the endpoint.
        temperature: Sampling temperature; "none" sends none.
        effort: Effort of a model that reasons.
        timeout_s: Seconds of silence that the endpoint may always have.
        patience_s: Seconds that a battle waits for a model that is away, before it fails.
    """

    model_config = ConfigDict(frozen=True)

    model: str | None = Field(None, min_length=1)
    decision_model: str | None = Field(None, min_length=1)
    base_url: str | None = Field(None, min_length=1)
    api_key: SecretStr | None = None
    temperature: Temperature | None = None
    effort: Effort | None = None
    timeout_s: float | None = Field(None, gt=0)
    patience_s: float | None = Field(None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _names_exist(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and (unknown := sorted(set(value) - set(cls.model_fields))):
            raise ValueError(
                f"there is no parameter {', '.join(unknown)}; choose of {', '.join(cls.model_fields)}"
            )
        return value

    def update(self) -> dict[str, Any]:
        """Model, address and key that it replaces."""
        given = {name: value for name in _ADDRESS if (value := getattr(self, name)) is not None}
        # Another endpoint has not the key of the first.
        return given if self.base_url is None else {"api_key": None, **given}

    def over(self, every: "StageModel") -> "StageModel":
        """Its parameters, and those of all calls where it has none."""
        names = set(type(self).model_fields) - {*_ADDRESS}
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        if self.base_url is not None:  # which has not the models of the first
            given = {"decision_model": None, **given}
        return every.model_copy(update=given)

    def named(self, model: str) -> str:
        """The model's name with temperature and effort, which change its replies.

        >>> StageModel().named("m"), StageModel(temperature="none", effort="low").named("m")
        ('m', 'm (temperature none, effort low)')
        """
        given = {"temperature": self.temperature, "effort": self.effort}
        words = [f"{name} {value}" for name, value in given.items() if value is not None]
        return f"{model} ({', '.join(words)})" if words else model

    def apply(self, request: ModelRequest) -> ModelRequest:
        """The request with temperature and effort, where they are given."""
        if self.temperature is not None:
            sent = None if self.temperature == "none" else self.temperature
            request = replace(request, temperature=sent)
        return replace(request, effort=self.effort) if self.effort is not None else request


def require_known(names: Iterable[str], allowed: Collection[str]) -> None:
    """Check that stages and evaluators exist.

    Raises:
        ValueError: One does not; the message lists those that do.
    """
    if unknown := sorted(set(names) - set(allowed)):
        raise ValueError(
            f"there is no stage or evaluator {', '.join(unknown)}; choose of {', '.join(allowed)}"
        )
