"""The ports through which services ask a model, and what they get."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Protocol

from services.runtime.llm.prices import Money
from services.runtime.llm.prompt import Prompt, R


def joined(names: Iterable[str]) -> str:
    """The distinct models, or versions of prompts, that gave one result, as one text in alphabetical order.

    Args:
        names: Their names; each may be several already.

    >>> joined(["small", "large", "small, other"])
    'large, other, small'
    """
    return ", ".join(sorted({part for name in names for part in name.split(", ")}))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and cost of one reply, discarded replies included.

    Attributes:
        input_tokens: Input tokens of the calls made; for a cached reply, of the calls that produced it.
        output_tokens: Output tokens of the same calls.
        cached: Whether the reply came without a call of its own.
        cost: Cost of the calls: zero when cached, None when the model has no price.
    """

    input_tokens: int
    output_tokens: int
    cached: bool
    cost: Money | None


@dataclass(frozen=True, slots=True)
class Reply(Generic[R]):
    """A usable reply.

    Attributes:
        value: The reply, which has the prompt's shape and passed its check.
        model: Name of the model as the server reports it.
        prompt_version: Version of the prompt, including an operator's override.
        usage: Tokens and cost.
    """

    value: R
    model: str
    prompt_version: str
    usage: Usage


class ChatModel(Protocol):
    """A model that answers prompts."""

    @property
    def name(self) -> str:
        """Name of the configured model; part of every id derived from its replies."""

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:
        """Ask for one usable reply.

        Raises:
            ModelOutage: The endpoint does not answer, or rejects every call.
            Outage: The database cannot be read or written.
            Retryable: Two replies in a row could not be used (`reply_unusable`).
            Permanent: The model declined, its content filter objected, or the prompt is too long.
            BudgetExceeded: The next call would exceed a budget.
        """
