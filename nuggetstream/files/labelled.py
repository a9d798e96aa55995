"""The labels of nuggets in a file of evaluated battles."""

from pydantic import Field

from nuggetstream.domain.nugget import Cause, Support, SupportProbabilities
from nuggetstream.files.fields import Part


class SupportProbabilitiesRow(Part):
    """How probable each label is according to the model; together 1."""

    support: float = Field(ge=0, le=1)
    partial_support: float = Field(ge=0, le=1)
    not_support: float = Field(ge=0, le=1)
    contradiction: float | None = Field(default=None, ge=0, le=1)


class LabelAuthorRow(Part):
    """The person who set a label, why, and the label of the model."""

    author: str
    reason: str = ""
    model: Support


class LabelRow(Part):
    """Whether an answer states a nugget, and the cause of a miss where it is known.

    Attributes:
        support: The label.
        cause: Cause of a miss; None where it is unknown.
        probabilities: Of the labels; None where the model did not tell, and where a person set the label.
        set_by: Who set the label; None for a label of the model.
    """

    support: Support
    cause: Cause | None = None
    probabilities: SupportProbabilitiesRow | None = None
    set_by: LabelAuthorRow | None = None

    @property
    def told(self) -> SupportProbabilities | None:
        """The probabilities as a domain value."""
        return None if self.probabilities is None else SupportProbabilities(**self.probabilities.model_dump())
