"""The labels of nuggets in a file of evaluated battles."""

from typing import Annotated

from nuggetstream.domain.nugget import Cause, Support, SupportProbabilities
from nuggetstream.files.fields import OF_PROBABILITIES, Part


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
    probabilities: Annotated[SupportProbabilities, OF_PROBABILITIES] | None = None
    set_by: LabelAuthorRow | None = None
