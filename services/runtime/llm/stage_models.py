"""The model of one stage or evaluator, where it is not the installation's.

NUGGETSTREAM_LLM_STAGES='{"judge": {"model": "o4-mini", "effort": "low", "temperature": "none"},
                          "aspects": {"base_url": "http://localhost:8000/v1", "model": "small"}}'
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.runtime.llm.dialect import ModelRequest

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
Temperature = float | Literal["none"]


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
    """

    model_config = ConfigDict(frozen=True)

    model: str | None = Field(None, min_length=1)
    decision_model: str | None = Field(None, min_length=1)
    base_url: str | None = Field(None, min_length=1)
    api_key: SecretStr | None = None
    temperature: Temperature | None = None
    effort: Effort | None = None
    timeout_s: float | None = Field(None, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _names_exist(cls, value: Any) -> Any:
        if isinstance(value, Mapping) and (unknown := sorted(set(value) - set(cls.model_fields))):
            raise ValueError(
                f"there is no parameter {', '.join(unknown)}; choose of {', '.join(cls.model_fields)}"
            )
        return value

    def update(self) -> dict[str, Any]:
        """The settings that it replaces."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        if self.base_url is None:
            return {name: value for name, value in given.items() if value is not None}
        # Another endpoint has neither the key nor the models of the first.
        kept = {name for name, value in given.items() if value is None} - {"api_key", "decision_model"}
        return {name: value for name, value in given.items() if name not in kept}


def require_known(names: Iterable[str], known: Collection[str]) -> None:
    """Check that stages and evaluators exist.

    Raises:
        ValueError: One does not; the message lists those that do.
    """
    if unknown := sorted(set(names) - set(known)):
        raise ValueError(f"there is no stage or evaluator {', '.join(unknown)}; choose of {', '.join(known)}")


@dataclass(frozen=True, slots=True)
class CallOptions:
    """Parameters of all calls of one client, in place of those that its prompts have.

    Attributes:
        temperature: Sampling temperature; "none" sends none, None leaves that of the prompt.
        effort: Effort of a model that reasons; None sends none.
    """

    temperature: Temperature | None = None
    effort: str | None = None

    def named(self, model: str) -> str:
        """The model's name with the options, which change its replies.

        >>> CallOptions().named("m"), CallOptions("none", "low").named("m")
        ('m', 'm (temperature none, effort low)')
        """
        given = {"temperature": self.temperature, "effort": self.effort}
        words = [f"{name} {value}" for name, value in given.items() if value is not None]
        return f"{model} ({', '.join(words)})" if words else model

    def apply(self, request: ModelRequest) -> ModelRequest:
        """The request with the options."""
        if self.temperature is not None:
            sent = None if self.temperature == "none" else self.temperature
            request = replace(request, temperature=sent)
        return replace(request, effort=self.effort) if self.effort is not None else request
