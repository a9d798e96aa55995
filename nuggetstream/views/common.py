"""The JSON shapes that every route shares: the base class of all views, `Problem` and `Health`."""

import reprlib
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field


class View(BaseModel):
    """A JSON shape of the API; the docstring under a field is its description in the OpenAPI document."""

    # Protobuf messages and databases can hold infinities and NaN; JSON cannot.
    model_config = ConfigDict(frozen=True, ser_json_inf_nan="null", use_attribute_docstrings=True)

    def __repr__(self) -> str:
        """What is known and no secret, each value shortened."""
        shown = {name for name, field in type(self).model_fields.items() if field.repr}
        shown_fields = (
            (name, value) for name, value in self if name in shown and value not in (None, [], "")
        )
        fields = (f"{name}={reprlib.repr(value)}" for name, value in shown_fields)
        return f"{type(self).__name__}({', '.join(fields)})"

    @classmethod
    def showing(cls, *values: object, **more: Any) -> Self:
        """The view of values: their attributes that have the names of fields, and what is given besides.

        Parts of a value become the views that the fields name, by the same rule.

        Args:
            values: What is shown; of two with the same attribute, the later one is.
            more: Fields that they have not, or that are shown in another way.

        Raises:
            pydantic.ValidationError: A field without a default is neither given nor an attribute.
        """
        return cls.model_validate(cls.attributes(*values) | more, from_attributes=True)

    @classmethod
    def attributes(cls, *values: object) -> dict[str, Any]:
        """The attributes of values that have the names of fields."""
        return {
            name: getattr(value, name)
            for value in values
            for name in cls.model_fields
            if hasattr(value, name)
        }


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
