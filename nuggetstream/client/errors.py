"""What can go wrong between a client and the platform.

NuggetstreamError
├── Rejected           the platform does not accept what was asked; asking again changes nothing
│   ├── Unauthenticated the platform needs a key, and this one is missing or not valid
│   ├── Forbidden      the key has no right to this, or only administrators may do it
│   ├── NotFound       no such battle or failure
│   ├── Conflict       the id belongs to a battle with other content, or an edit is outdated
│   └── Invalid        a field is wrong; `problems` names each of them
├── Unavailable        nobody answers, or not in time; asking later may help
├── InternalError      the platform failed; its log says how
└── UnexpectedReply    the reply is not one of this API: another server, or another version
"""

from collections.abc import Sequence


class NuggetstreamError(Exception):
    """Any error of a client."""


class Rejected(NuggetstreamError):
    """The platform does not accept what was asked.

    Attributes:
        problems: What is wrong, one "field: why" each; empty where the message says it all.
    """

    def __init__(self, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__("; ".join((message, *problems)))
        self.problems = list(problems)


class Unauthenticated(Rejected):
    """The platform needs a key, and this one is missing, unknown, expired or revoked."""


class Forbidden(Rejected):
    """The key has no right to this, or only administrators may do it."""


class NotFound(Rejected):
    """There is no such battle, or no such failure."""


class Conflict(Rejected):
    """The id belongs to a battle with other content, or the battle's state does not allow the request."""


class Invalid(Rejected):
    """What was sent is not valid; `problems` names each field and why."""


class Unavailable(NuggetstreamError):
    """Nobody answers, or not in time.

    Attributes:
        retry_after: Seconds after which the platform asks to be tried again; None where it said nothing.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class InternalError(NuggetstreamError):
    """The platform failed; its log says how."""


class UnexpectedReply(NuggetstreamError):
    """The reply is not one of this API: another server answers, or another version of the platform."""
