"""Members of a panel that do not answer: each is counted, and never as a tie or a zero.

An abstention is a model that declined, a reply that could not be used, or a budget that is used up. A panel
of which no more than half of the members answered gives up, with the most frequent reason.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from nuggetstream.domain.failure import Reason
from services.judge.asking import Asking
from services.runtime.errors import Permanent, StageError

T = TypeVar("T")

# Other errors, such as a model that is away, concern the whole battle.
_ABSTENTIONS = frozenset(
    {Reason.LLM_REFUSED, Reason.CONTENT_FILTERED, Reason.REPLY_UNUSABLE, Reason.BUDGET_EXCEEDED}
)


async def asked_of_all(
    askings: Sequence[Asking], ask: Callable[[Asking], Awaitable[T]]
) -> list[tuple[T | None, Reason | None]]:
    """What each member answers to the same questions, or why it abstained; they are asked at the same time.

    Args:
        askings: The members.
        ask: Asks one of them.

    Raises:
        Permanent: No more than half of the members answered.
        StageError: The only member did not answer, or an error is no abstention.
    """

    async def answer(asking: Asking) -> tuple[T | None, Reason | None]:
        try:
            return await ask(asking), None
        except StageError as error:
            if len(askings) == 1 or not is_abstention(error):
                raise
            return None, error.reason

    results = await asyncio.gather(*map(answer, askings), return_exceptions=True)
    answers = list[tuple[T | None, Reason | None]]()
    for result in results:
        if isinstance(result, BaseException):
            raise result
        answers.append(result)
    require_answers([reason for _, reason in answers])
    return answers


def is_abstention(error: StageError) -> bool:
    """Whether an error makes one member abstain."""
    return error.reason in _ABSTENTIONS


def require_answers(abstentions: Sequence[Reason | None]) -> None:
    """Check that more than half of the members answered.

    Args:
        abstentions: Why each member abstained; None for one that answered.

    Raises:
        Permanent: They did not; the reason is the most frequent one, of several that of the first member.
    """
    reasons = [reason for reason in abstentions if reason is not None]
    if 2 * len(reasons) >= len(abstentions):
        [(reason, _)] = Counter(reasons).most_common(1)
        raise Permanent(reason, f"{len(reasons)} of {len(abstentions)} members of the panel abstained")
