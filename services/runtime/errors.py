"""The errors that a handler may raise, and what the runner does with each.

    StageError
    ├── Retryable            retried later, with growing delay
    │   └── Unavailable      a dependency (model, database, broker) did not answer
    │       └── Outage       a part of the platform is away: retried in place, without using up attempts
    │           └── ModelOutage  the model is away: retried in place for a limited time
    └── Permanent            a retry cannot help: dead letter at once
        ├── InvalidInput     the message itself is wrong
        └── BudgetExceeded   the budget of money or tokens is used up

Any other exception from a handler is a bug: it is retried like a Retryable, because its cause may be
temporary, and its failure has `Reason.BUG`.
"""

from nuggetstream.domain.failure import Reason


class StageError(Exception):
    """A handler cannot produce a result.

    Args:
        reason: The enumerated cause, stored with the failure.
        detail: The cause as one sentence for a person, in our own words. Everybody can read it.
        admin_detail: What the other side said, which may repeat what it was sent. Only administrators read
            it, and known secrets are replaced in it.
    """

    def __init__(self, reason: Reason, detail: str, *, admin_detail: str | None = None) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail
        self.admin_detail = admin_detail

    @property
    def for_operators(self) -> str:
        """The cause with what the other side said, for the log and the terminal of who runs the platform."""
        return self.detail if self.admin_detail is None else f"{self.detail}: {self.admin_detail}"


class Retryable(StageError):
    """The same job may succeed later.

    Args:
        reason: The enumerated cause, stored with the failure.
        detail: The cause as one sentence for a person, in our own words.
        retry_after: Shortest delay until a retry in seconds, where the other side asked for one.
        admin_detail: What the other side said; see `StageError`.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        retry_after: float | None = None,
        *,
        admin_detail: str | None = None,
    ) -> None:
        super().__init__(reason, detail, admin_detail=admin_detail)
        self.retry_after = retry_after


class Unavailable(Retryable):
    """A dependency did not answer."""


class Outage(Unavailable):
    """The database or another service of the platform is away.

    No message is at fault and no other message would succeed, so a runner keeps its messages in flight and
    waits.
    """


class ModelOutage(Outage):
    """The model's endpoint is away, or rejects every call, for instance because of a wrong key.

    A runner waits for it as for any outage, but not for ever: the model may never come back.

    Args:
        reason: The enumerated cause, stored with the failure once the patience is over.
        detail: The cause as one sentence for a person.
        retry_after: Shortest delay until a retry in seconds, where the endpoint asked for one.
        patience: Seconds after which a message is given up.
        since: Unix time at which the outage began for all messages; None when others are answered.
        admin_detail: What the endpoint said; see `StageError`.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        retry_after: float | None = None,
        *,
        patience: float,
        since: float | None = None,
        admin_detail: str | None = None,
    ) -> None:
        super().__init__(reason, detail, retry_after, admin_detail=admin_detail)
        self.patience = patience
        self.since = since


class Permanent(StageError):
    """A retry cannot help."""


class InvalidInput(Permanent):
    """The message is well-formed but its content is invalid."""

    def __init__(self, detail: str, *, admin_detail: str | None = None) -> None:
        super().__init__(Reason.INVALID_INPUT, detail, admin_detail=admin_detail)


class BudgetExceeded(Permanent):
    """The budget of this battle or of this day is used up."""

    def __init__(self, detail: str) -> None:
        super().__init__(Reason.BUDGET_EXCEEDED, detail)
