"""The JSON shapes that every route shares: the base class of all views, `Problem` and `Health`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class View(BaseModel):
    """A JSON shape of the API; the docstring under a field is its description in the OpenAPI document."""

    # Protobuf messages and databases can hold infinities and NaN; JSON cannot.
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null", use_attribute_docstrings=True)


class Problem(View):
    """Why a request was rejected or failed."""

    error: str
    problems: list[str] = Field(default_factory=list)


class Health(View):
    """Whether the process is alive, or ready to serve; the reasons why it is not."""

    status: Literal["ok", "unavailable"]
    reasons: list[str] = Field(default_factory=list)
    notes: list[str] = Field(default_factory=list)
    """What an operator should know although the process is ready, such as a model that is away."""
