"""Labels of nuggets as JSON."""

from nuggetstream.domain.nugget import Cause, Support, SupportProbabilities
from nuggetstream.views.common import View


class LabelAuthorView(View):
    """The person who set a label, and what the model had said."""

    author: str
    reason: str
    model: Support
    """The label of the model."""


class LabelView(View):
    """Whether an answer states a nugget, with the passage that states or contradicts it; null where none was
    named. A contradiction is an error of the answer; in scores it counts as no support."""

    support: Support
    quote: str | None = None
    cause: Cause | None = None
    """Cause of a miss; null where it is unknown."""
    probabilities: SupportProbabilities | None = None
    """Of the labels; null where the model did not tell, and where a person set the label."""
    set_by: LabelAuthorView | None = None
    """Who set the label; null for a label of the model."""
