"""Every error a handler may raise, and what the runner does with it.

    StageError
    ├── Retryable            try again later, with growing delay
    │   └── Unavailable      a dependency (model, database, broker) did not answer
    │       └── Outage       a part of the platform itself is away: waited for, without using up attempts
    └── Permanent            trying again cannot help: dead letter at once
        ├── InvalidInput     the message itself is wrong
        └── BudgetExceeded   the money or the tokens for it are spent

Anything else that escapes a handler is a bug: it is retried like a Retryable, because a crash may
be a passing fault, and ends as `Reason.BUG`.
"""

from nuggetstream.domain.failure import Reason


class StageError(Exception):
    """A handler's way to say that it cannot answer, and why.

    Args:
        reason: the enumerated cause, stored with the failure.
        detail: one sentence for a person.
    """

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


class Retryable(StageError):
    """May succeed later. `retry_after` is the least delay in seconds, where the other side named one."""

    def __init__(self, reason: Reason, detail: str, retry_after: float | None = None) -> None:
        super().__init__(reason, detail)
        self.retry_after = retry_after


class Unavailable(Retryable):
    """A dependency did not answer."""


class Outage(Unavailable):
    """The record or another service of the platform is away.

    No message is at fault and none would fare better, so a runner keeps what it holds and waits.
    """


class Permanent(StageError):
    """Trying again cannot help."""


class InvalidInput(Permanent):
    """The message is well-formed but says something impossible."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.INVALID_INPUT, detail)


class BudgetExceeded(Permanent):
    """The budget of this battle or of this day is spent."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.BUDGET_EXCEEDED, detail)
