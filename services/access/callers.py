"""Roles, callers, and the errors of callers that may not do something.

Denied
├── Unauthenticated  no key, or not a valid one           401  UNAUTHENTICATED
├── NotAllowed       the key has no right to this         403  PERMISSION_DENIED
└── TooMany          a limit of the key is exhausted      429  RESOURCE_EXHAUSTED
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a key is for. `ADMIN` includes the others."""

    SUBMIT = "submit"
    VOTE = "vote"
    READ = "read"
    ADMIN = "admin"


class Denied(Exception):
    """The caller may not do this; the message tells a person why."""


class Unauthenticated(Denied):
    """The request has no valid key."""


def check_credentials(sent: Sequence[str]) -> None:
    """Reject a request with two credentials, of which a proxy may have checked the other one.

    Args:
        sent: The values of `authorization` in its headers or metadata.

    Raises:
        Unauthenticated: There are several.
    """
    if len(sent) > 1:
        raise Unauthenticated(f"'authorization' is there {len(sent)} times; send it once")


class NotAllowed(Denied):
    """The key of the request has no right to this."""


class TooMany(Denied):
    """A limit of the key is exhausted.

    Attributes:
        retry_after: Seconds until the limit allows more.
    """

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request.

    Attributes:
        key_id: Id of the key, as in the audit log.
        roles: What it may do.
        name: What the key is for; None where the database has no key.
        arenas: Where; None for all arenas.
        per_minute: Requests per minute and process; None without a limit.
        battles_per_day: Battles that it may submit per day (UTC); None without a limit.
        csrf: Token that its writes must repeat, because a browser sends its login unasked; None where what
            identifies the caller is sent on purpose.
        logged_in: Whether it is known by a login of the pages.
        frame: Battle whose frame it reads with a token that the key has made; None where it shows the key.
    """

    key_id: str
    roles: frozenset[Role]
    name: str | None = None
    arenas: frozenset[str] | None = None
    per_minute: int | None = None
    battles_per_day: int | None = None
    csrf: str | None = None
    logged_in: bool = False
    frame: str | None = None

    def has(self, role: Role) -> bool:
        """Whether it has a role, in whatever arena."""
        return role in self.roles or Role.ADMIN in self.roles

    def may(self, role: Role, arena: str | None) -> bool:
        """Whether it has a role in an arena; None asks for all arenas.

        >>> caller = Caller(key_id="k", roles=frozenset({Role.READ}), arenas=frozenset({"mine"}))
        >>> caller.may(Role.READ, "mine"), caller.may(Role.READ, None), caller.may(Role.VOTE, "mine")
        (True, False, False)
        """
        return self.has(role) and (self.arenas is None or arena in self.arenas)

    def require(self, role: Role, arena: str | None) -> None:
        """Return if the caller has a role in an arena; None asks for all arenas.

        Raises:
            NotAllowed: It has not.
        """
        if not self.has(role):
            raise NotAllowed(f"this needs a key with the role {role.value}")
        if not self.may(role, arena):
            where = "all arenas" if arena is None else f"the arena {arena!r}"
            raise NotAllowed(f"this key has no right to {where}")


ANYBODY = Caller(key_id="anybody", roles=frozenset({Role.SUBMIT, Role.VOTE, Role.READ}))
"""Every caller of a platform that needs no keys."""
EVERY_ROLE = frozenset(Role)
