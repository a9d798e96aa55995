"""The model calls of a battle, as JSON."""

from datetime import datetime
from decimal import Decimal

from nuggetstream.views.common import View


class PromptMessage(View):
    """One message of a prompt."""

    role: str
    content: str


class CallCost(View):
    """What a call cost."""

    amount: Decimal
    currency: str


class CallView(View):
    """One attempt to get a reply from a model, or one reply that needed no call."""

    stage: str
    """The stage, or `grader-NAME` for an evaluator."""
    evaluator: str | None = None
    """Name of the judge or evaluator; null for other stages and where there is a single judge."""
    task: str
    """Task of the prompt, such as `assignment`."""
    model: str
    endpoint: str | None = None
    """Host and port that was asked; null where there was no call."""
    attempt: int
    """Number of the attempt, from 1; failed calls are repeated."""
    repair: bool
    """Whether it is a second request, which says why the first reply could not be used."""
    outcome: str
    """`answered`, `unusable`, `refused`, `filtered`, `failed` or `cancelled`; without a call `cached`, or
    `shared` where another battle or process was asking the same."""
    at: datetime
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    """The part of the input that was in the provider's prompt cache."""
    estimated: bool = False
    """Whether the tokens are an estimate, because the endpoint did not count them."""
    cost: CallCost | None = None
    """null where the model has no price, or nothing was charged."""
    detail: str | None = None
    """Why there is no usable reply."""
    prompt: list[PromptMessage] | None = None
    """null where a part of it is no longer stored."""
    reply: str | None = None
    """The reply as the platform read it, or as it was written where it could not be used."""
