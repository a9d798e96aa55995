"""The checks before every method of a gRPC service: key, role, arena and limits.

A method without a rule cannot be served: `guarded` raises at start.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import grpc
from google.protobuf.descriptor import ServiceDescriptor

from services.access.callers import (
    ANYBODY,
    Caller,
    Denied,
    NotAllowed,
    Role,
    TooMany,
    Unauthenticated,
    check_credentials,
)
from services.access.keys import Keys
from services.access.limits import Rates
from services.access.signing import HEADER, is_signed
from services.access.visits import VISIT, Visit, audit
from services.runtime.errors import StageError
from services.runtime.rpc_errors import end_call
from services.store.access.audit_log import AuditLog

Context = grpc.aio.ServicerContext[Any, Any]
S = TypeVar("S")
_CODES = {
    Unauthenticated: grpc.StatusCode.UNAUTHENTICATED,
    NotAllowed: grpc.StatusCode.PERMISSION_DENIED,
    TooMany: grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_NO_KEY = "this needs a key, as the metadata 'authorization: Bearer KEY'"
_PLATFORM = Caller(key_id="platform", roles=frozenset({Role.READ}))


@dataclass(frozen=True, slots=True)
class RpcRule:
    """What a method needs.

    Attributes:
        role: Role of the caller.
        arena: Gives the arena that a request names; None where it names none.
        battle: Gives the id of the battle that a request names; None where it names none. A method with
            neither checks the arenas itself.
        action: Name in the audit log; None where it changes nothing.
    """

    role: Role
    arena: Callable[[Any], str] | None = None
    battle: Callable[[Any], str] | None = None
    action: str | None = None


@dataclass(frozen=True, slots=True)
class RpcGuard:
    """Allows calls.

    Attributes:
        keys: Finds callers.
        rates: Requests per minute.
        log: The audit log.
        arena_of: Gives the arena of a battle, None for one that is unknown; None where no method names one.
        trusts_platform: Whether the other services of the platform may call without a key.
        writing: Entries of the audit log that are being written.
    """

    keys: Keys
    rates: Rates
    log: AuditLog
    arena_of: Callable[[str], Awaitable[str | None]] | None = None
    trusts_platform: bool = False
    writing: set[asyncio.Task[None]] = field(default_factory=set, repr=False, compare=False)

    @asynccontextmanager
    async def visiting(self, context: Context, rule: RpcRule, request: Any) -> AsyncIterator[None]:
        """Check a call, let it happen, and log it; a call that is not allowed is aborted.

        A call that was cancelled, by its client, its deadline or a stop of the server, is logged if it had
        begun to change something. One that the method rejected has changed nothing.
        """
        try:
            visit = await self._visit(_metadata(context), rule, request)
        except (Denied, StageError) as error:
            await abort(context, error)
        except LookupError as error:
            await end_call(context, grpc.StatusCode.NOT_FOUND, str(error.args[0]))
        VISIT.set(visit)
        try:
            yield
        except grpc.aio.AbortError:
            raise
        except BaseException:
            if visit.acted or visit.arenas:
                await self._log(visit, rule)
            raise
        await self._log(visit, rule)

    async def _log(self, visit: Visit, rule: RpcRule) -> None:
        """Write the entry of a call; it is written even if the call is cancelled meanwhile."""
        if rule.action is None:
            return
        entry = asyncio.create_task(audit(self.log, visit, rule.action))
        self.writing.add(entry)
        entry.add_done_callback(self.writing.discard)
        await asyncio.shield(entry)

    async def _visit(self, metadata: Mapping[str, str], rule: RpcRule, request: Any) -> Visit:
        caller = await self._caller(metadata)
        self.rates.take(caller)
        arena: str | None = None
        if rule.arena is not None:
            arena = rule.arena(request)
            caller.require(rule.role, arena)
        elif rule.battle is not None and self.arena_of is not None and caller.arenas is not None:
            if not caller.has(rule.role):
                caller.require(rule.role, None)
            arena = await self.arena_of(rule.battle(request))
            if arena is None or not caller.may(rule.role, arena):
                raise LookupError(f"there is no battle {rule.battle(request)!r}")
        elif not caller.has(rule.role):
            caller.require(rule.role, None)
        return Visit(caller=caller, role=rule.role, arena=arena, again=lambda: self._caller(metadata))

    async def _caller(self, metadata: Mapping[str, str]) -> Caller:
        if not await self.keys.required():
            return ANYBODY
        if self.trusts_platform and (sent := metadata.get(HEADER)) and await is_signed(self.keys, sent):
            return _PLATFORM
        kind, _, token = metadata.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            raise Unauthenticated(_NO_KEY)
        return await self.keys.of_token(token.strip())


async def abort(context: Context, error: Exception) -> NoReturn:
    """End a call with the status of an error."""
    code = _CODES.get(type(error), grpc.StatusCode.UNAVAILABLE)
    trailer = (("retry-after", str(math.ceil(error.retry_after))),) if isinstance(error, TooMany) else ()
    await end_call(context, code, str(error), trailer)


def guarded(servicer: S, service: ServiceDescriptor, rules: Mapping[str, RpcRule], guard: RpcGuard) -> S:
    """A servicer whose methods are checked before they run.

    Raises:
        KeyError: A method has no rule.
    """
    for method in service.methods:
        inner, rule = getattr(servicer, method.name), rules[method.name]
        unread = method.client_streaming  # a stream of requests names no single arena
        wrap = _stream if method.server_streaming else _unary
        setattr(servicer, method.name, wrap(guard, rule, inner, unread))
    return servicer


def _unary(guard: RpcGuard, rule: RpcRule, inner: Any, unread: bool) -> Any:
    async def call(request: Any, context: Context) -> Any:
        async with guard.visiting(context, rule, None if unread else request):
            return await inner(request, context)

    return call


def _stream(guard: RpcGuard, rule: RpcRule, inner: Any, unread: bool) -> Any:
    async def call(request: Any, context: Context) -> AsyncIterator[Any]:
        async with guard.visiting(context, rule, None if unread else request):
            async for response in inner(request, context):
                yield response

    return call


def _metadata(context: Context) -> dict[str, str]:
    pairs = context.invocation_metadata() or ()
    texts = [(name.lower(), value) for name, value in pairs if isinstance(value, str)]
    check_credentials([value for name, value in texts if name == "authorization"])
    return dict(texts)
