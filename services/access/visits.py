"""The request that is being answered: who makes it, and in which arena it was allowed.

It is a context variable, because HTTP and gRPC share the code behind the routes. The checks before a route
or method set it; it is None where a test builds an application without them.
"""

import hmac
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from nuggetstream.views.audit import AuditView
from services.access.callers import ANYBODY, Caller, NotAllowed, Role, Unauthenticated
from services.runtime.errors import Unavailable
from services.store.access.audit_log import AuditLog

log = structlog.get_logger(__name__)
_CSRF = "the form is outdated, or was not made by this site: load the page again"


@dataclass(slots=True, eq=False)
class Visit:
    """A request that was allowed.

    Attributes:
        caller: Who makes it.
        role: Role that it needed.
        arena: Arena in which the caller was found to have it; None where it is not about one arena.
        again: Finds the caller again, as the request is read over a long time.
        arenas: Arenas that it changed something in, for the audit log.
        acted: Whether it has begun to change something that `arenas` does not name.
    """

    caller: Caller
    role: Role
    arena: str | None
    again: Callable[[], Awaitable[Caller]]
    arenas: set[str] = field(default_factory=set)
    acted: bool = False

    async def still_allowed(self) -> bool:
        """Whether the caller still has the right; its key may be revoked while it follows a battle.

        Raises:
            Unavailable: The database does not answer.
        """
        try:
            caller = await self.again()
        except Unauthenticated:
            return False
        return caller.may(self.role, self.arena) if self.arena is not None else caller.has(self.role)

    def check_csrf(self, sent: str | None) -> None:
        """Check the token that a write repeats.

        Raises:
            NotAllowed: It is missing or wrong.
        """
        token = self.caller.csrf
        if token is not None and not hmac.compare_digest((sent or "").encode(), token.encode()):
            raise NotAllowed(_CSRF)


VISIT: ContextVar[Visit | None] = ContextVar("visit", default=None)


def visible_arenas(asked: str | None = None) -> frozenset[str] | None:
    """The arena that is asked for, or else those that the current caller may see; None for all."""
    if asked is not None:
        return frozenset({asked})  # the checks before the route have allowed it
    visit = VISIT.get()
    return None if visit is None else visit.caller.arenas


async def still_allowed() -> bool:
    """Whether the caller of the current request still has the right that it began with.

    Raises:
        Unavailable: The database does not answer.
    """
    visit = VISIT.get()
    return visit is None or await visit.still_allowed()


def csrf_of_page() -> str | None:
    """The token that a form of the current page repeats; None where its caller needs none."""
    visit = VISIT.get()
    return None if visit is None else visit.caller.csrf


def logged_in() -> bool:
    """Whether the current page is read with a login of the pages."""
    visit = VISIT.get()
    return visit is not None and visit.caller.logged_in


def may(role: str, arena: str | None) -> bool:
    """Whether the current page's caller has a role in an arena; None asks for any arena.

    Who reads without a key may have every role: an administrator is asked for the token later.
    """
    visit = VISIT.get()
    if visit is None or visit.caller is ANYBODY:
        return True
    return visit.caller.has(Role(role)) if arena is None else visit.caller.may(Role(role), arena)


async def audit(entries: AuditLog, visit: Visit, action: str) -> None:
    """Log what a request did; where the database is away, the process's log has it."""
    if visit.caller.key_id == ANYBODY.key_id:
        return
    at = datetime.now(UTC)
    arenas: list[str] | list[str | None] = sorted(visit.arenas) or [visit.arena]
    for arena in arenas:
        try:
            await entries.add(AuditView(at=at, key=visit.caller.key_id, action=action, arena=arena))
        except Unavailable:
            log.warning("not in the audit log", key=visit.caller.key_id, action=action, arena=arena)
