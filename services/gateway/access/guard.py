"""The checks before every route: who the caller is, its role, its arenas and its limits.

    Authorization: Bearer KEY  |  the user of a trusted proxy  |  the cookie of a login  ->  a caller
    where no key is needed     ->  anybody; administration is for programs on this machine, or the token

A dependency of the whole application, so that a new route is checked as well. It runs where exceptions become
replies; `VisitLog` is the middleware around it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from services.access.callers import (
    ANYBODY,
    EVERY_ROLE,
    Caller,
    NotAllowed,
    Role,
    Unauthenticated,
    check_credentials,
)
from services.access.embed_tokens import caller_of
from services.access.keys import Keys
from services.access.limits import Quotas, Rates
from services.access.rpc_guard import RpcGuard
from services.access.signing import signature
from services.access.visits import VISIT, Visit, audit
from services.gateway.access import rules
from services.gateway.access.proxies import TrustedProxies
from services.gateway.access.rules import RULES, Rule
from services.gateway.errors import UnknownBattle
from services.gateway.failures.access import AdminAccess
from services.store.access.audit_log import AuditLog
from services.store.battles.battles import Battles

_FRAMES = "/embed/battles/"  # where a token for the battle will do in place of a key
SESSION_COOKIE = "nuggetstream_session"
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_NO_KEY = "this needs a key, as 'Authorization: Bearer KEY'"
_LOCAL = Caller(key_id="local", roles=EVERY_ROLE)
_NO_PROXIES = TrustedProxies()


@dataclass(frozen=True, slots=True)
class Editing:
    """What a form has, beside its own fields.

    Attributes:
        csrf: Token that it repeats; None where it needs none.
        asks_for_token: Whether it asks for the administrators' token.
    """

    csrf: str | None = None
    asks_for_token: bool = False


@dataclass(frozen=True, slots=True)
class Access:
    """Everything that decides who may do what.

    Attributes:
        keys: Finds callers.
        battles: Battles, which have an arena.
        log: The audit log.
        admin: Who administrates where no key is needed.
        proxies: Proxies whose headers count.
        rates: Requests per minute.
        quotas: Battles per day.
    """

    keys: Keys
    battles: Battles
    log: AuditLog
    admin: AdminAccess
    quotas: Quotas
    proxies: TrustedProxies = _NO_PROXIES
    rates: Rates = field(default_factory=Rates)

    async def __call__(self, request: Request) -> None:
        """Check a request; a dependency of the application.

        Raises:
            Unauthenticated, NotAllowed, TooMany: The caller may not do this.
            UnknownBattle: There is no such battle in the caller's arenas.
            Unavailable: The database does not answer.
        """
        path = request.scope["route"].path
        rule = RULES.get((request.method, path))
        if rule is None:
            raise NotAllowed(f"nobody may use {request.method} {path}: it has no rule")
        if rule.role is None:
            return
        caller = await self._caller(request, rule)
        self.rates.take(caller)
        if caller.frame is not None and rule.role is Role.VOTE:
            self.rates.take_vote(caller.frame)
        visit = Visit(caller=caller, role=rule.role, arena=None, again=lambda: self._caller(request, rule))
        if request.method not in _READING and not rule.form:
            visit.check_csrf(request.headers.get("x-csrf-token"))
        visit.arena = await self._arena(request, rule.role, rule.scope, caller)
        VISIT.set(visit)

    def check_form(self, request: Request, fields: Mapping[str, str]) -> None:
        """Check a form of one of our own pages, which this has let through as far as its handler.

        Raises:
            NotAllowed, Forbidden: It has no right.
        """
        visit = VISIT.get()
        if visit is not None and visit.caller.has(Role.ADMIN):
            visit.check_csrf(fields.get("csrf"))
            return
        self.admin.check_form(request, fields.get("token", ""))
        if visit is not None:
            visit.caller = _LOCAL

    def editing(self, arena: str) -> Editing | None:
        """How the current page's caller edits an arena by a form; None where it may not."""
        visit = VISIT.get()
        if visit is not None and visit.caller is not ANYBODY:
            return Editing(csrf=visit.caller.csrf) if visit.caller.may(Role.ADMIN, arena) else None
        return Editing(asks_for_token=self.admin.token is not None) if self.admin.by_form else None

    def asks_for_token(self) -> bool:
        """Whether a form of the current page asks for the administrators' token."""
        visit = VISIT.get()
        is_identified = visit is not None and visit.caller not in (ANYBODY, _LOCAL)
        return self.admin.token is not None and not is_identified

    async def identified(self, request: Request) -> Caller | None:
        """The caller that a request names; None where it names none.

        Raises:
            Unauthenticated: It names one that is not valid.
            Unavailable: The database does not answer.
        """
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            return await self.keys.of_token(token.strip())
        if (user := self.proxies.user_of(request)) is not None:
            return await self.keys.of_user(user)
        if (cookie := request.cookies.get(SESSION_COOKIE)) is not None:
            return await self.keys.of_session(cookie)
        return None

    def rpc_guard(self) -> RpcGuard:
        """The same checks for gRPC."""

        async def arena_of(battle_id: str) -> str | None:
            row = await self.battles.get(battle_id)
            return None if row is None else row.arena

        return RpcGuard(keys=self.keys, rates=self.rates, log=self.log, arena_of=arena_of)

    async def signature(self) -> str:
        """The proof for the rater that this platform asks.

        Raises:
            Unavailable: The database does not answer.
        """
        return await signature(self.keys)

    async def _caller(self, request: Request, rule: Rule) -> Caller:
        check_credentials(request.headers.getlist("authorization"))
        token = request.query_params.get("token")
        if token is not None and request.url.path.startswith(_FRAMES):
            return await caller_of(self.keys, token, request.path_params["battle_id"])
        if await self.keys.required():
            caller = await self.identified(request)
            if caller is None:
                raise Unauthenticated(_NO_KEY)
            return caller
        if rule.role is not Role.ADMIN:
            return ANYBODY
        try:
            caller = await self.identified(request)
        except Unauthenticated:
            caller = None
        if caller is not None and caller.has(Role.ADMIN):
            return caller
        if rule.form:
            return ANYBODY  # its handler checks the token, which is one of the fields
        await (self.admin.check_page if rule.page else self.admin)(request)
        return _LOCAL

    async def _arena(self, request: Request, role: Role, scope: rules.Scope, caller: Caller) -> str | None:
        """The arena that a request is about, after checking that the caller has the role there."""
        if caller is ANYBODY:
            return None
        if not caller.has(role):
            caller.require(role, None)
        named = [arena for arena in request.query_params.getlist("arena") if arena]
        match scope:
            case rules.Scope.ARENA:
                named = named or ["default"]
            case rules.Scope.ARENA_OR_ALL if not named:
                caller.require(role, None)
            case rules.Scope.BATTLE:
                return await self._arena_of_battle(request.path_params["battle_id"], role, caller)
            case _:
                pass
        for arena in named:
            caller.require(role, arena)
        return named[0] if named else None

    async def _arena_of_battle(self, battle_id: str, role: Role, caller: Caller) -> str | None:
        """The arena of a battle; a battle of another arena is as unknown as one that does not exist."""
        row = await self.battles.get(battle_id)
        if row is None and caller.arenas is None:
            return None  # the route says what is missing
        if row is None or not caller.may(role, row.arena):
            raise UnknownBattle(battle_id)
        return row.arena


class VisitLog:
    """Middleware: begins a visit with what a trusted proxy says, and writes the audit log at its end."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and log what it did."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        VISIT.set(None)
        scope["scheme"] = self._access.proxies.scheme_of(scope)
        status = 500

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        await self._app(scope, receive, noting)
        visit, route = VISIT.get(), scope.get("route")
        if visit is None or route is None or status >= 400:
            return
        rule = RULES.get((scope["method"], route.path))
        if rule is not None and rule.action is not None:
            await audit(self._access.log, visit, rule.action)
