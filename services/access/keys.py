"""From what a request sends to a caller: a key, a login of the pages, or the user that a trusted proxy names.

What the database says is remembered for `LIFETIME` seconds: a revoked key is rejected within that time, and a
busy key costs one query in it. While the database is away, nothing that is not remembered is allowed: the
answer is then `Unavailable`, and never a caller.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

from services.access.callers import EVERY_ROLE, Caller, Role, Unauthenticated
from services.store.access.api_keys import ApiKeys, StoredKey

PREFIX = "ngs"
LIFETIME = 10.0  # seconds
SESSION = timedelta(hours=12)
_REMEMBERED = 10_000
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key when it is made; its secret is shown once and never stored.

    Attributes:
        id: Its public part.
        token: The whole key, as clients send it.
        hash: What is stored of it.
    """

    id: str
    token: str
    hash: str

    @classmethod
    def make(cls) -> "NewKey":
        """A key with 256 random bits."""
        key_id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        return cls(key_id, f"{PREFIX}_{key_id}_{secret}", hash_of(secret))


def hash_of(secret: str) -> str:
    """SHA-256 in hexadecimal. A slow hash protects secrets that people choose; these are random."""
    return hashlib.sha256(secret.encode()).hexdigest()


def id_of(token: str) -> str:
    """The public part of what may be a key; empty where it has none.

    >>> id_of("ngs_0123456789ab_secret"), id_of("a guess")
    ('0123456789ab', '')
    """
    prefix, _, rest = token.partition("_")
    key_id, _, secret = rest.partition("_")
    return key_id if prefix == PREFIX and secret and len(key_id) == 12 and key_id.isalnum() else ""


class _Recent(Generic[K, V]):
    """What was read during the last `seconds`; an answer of None is read again each time."""

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds, self._clock = seconds, clock
        self._values: dict[K, tuple[float, V]] = {}

    async def get(self, key: K, read: Callable[[], Awaitable[V | None]]) -> V | None:
        at, value = self._values.get(key, (0.0, None))
        now = self._clock()
        if value is not None and now < at + self._seconds:
            return value
        self._values.pop(key, None)
        value = await read()
        if value is not None:
            while len(self._values) >= _REMEMBERED:
                del self._values[next(iter(self._values))]  # the oldest
            self._values[key] = (now, value)
        return value

    def forget(self, key: K) -> None:
        self._values.pop(key, None)


@dataclass(frozen=True, slots=True)
class Policy:
    """When keys are needed.

    Attributes:
        admin_token: The administrators' token, which is a key with all rights; None without one.
        always: Whether keys are needed although none was created, because others can reach the process.
        open: Whether an operator chose to serve everybody without keys.
    """

    admin_token: str | None = None
    always: bool = False
    open: bool = False


class Keys:
    """Finds callers.

    Args:
        store: The keys in the database.
        policy: When keys are needed.
        lifetime: Seconds for which an answer of the database is remembered.
        clock: Seconds on a clock that never goes back.
        now: The time.
    """

    def __init__(
        self,
        store: ApiKeys,
        policy: Policy,
        lifetime: float = LIFETIME,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.store, self.policy, self.now = store, policy, now
        self._keys: _Recent[str, StoredKey] = _Recent(lifetime, clock)
        self._users: _Recent[str, StoredKey] = _Recent(lifetime, clock)
        self._sessions: _Recent[str, tuple[str, datetime]] = _Recent(lifetime, clock)
        self._secrets: dict[str, str] = {}
        self._none_until: float | None = None
        self._exist = False
        self._lifetime, self._clock = lifetime, clock

    async def required(self) -> bool:
        """Whether callers need a key: one was created, or others can reach the process.

        Raises:
            Unavailable: The database does not answer.
        """
        if self.policy.open:
            return False
        if self.policy.always or self._exist:
            return True
        now = self._clock()
        if self._none_until is None or now >= self._none_until:
            self._exist = await self.store.exist()
            self._none_until = now + self._lifetime
        return self._exist

    async def of_token(self, token: str) -> Caller:
        """The caller that sends a key.

        Raises:
            Unauthenticated: The key is unknown, expired or revoked.
            Unavailable: The database does not answer.
        """
        admin = self.policy.admin_token
        if admin is not None and hmac.compare_digest(token.encode(), admin.encode()):
            return _administrator(admin)
        if key_id := id_of(token):
            secret = token.split("_", 2)[2]
            key = await self._keys.get(key_id, lambda: self.store.get(key_id))
            stored = None if key is None else key.hash
            if key is not None and stored is not None and hmac.compare_digest(hash_of(secret), stored):
                return self._valid(key)
        raise Unauthenticated(_UNKNOWN)

    async def of_user(self, user: str) -> Caller:
        """The caller whom a trusted proxy names.

        Raises:
            Unauthenticated: The user has no rights here.
            Unavailable: The database does not answer.
        """
        key = None
        if len(user) <= 320 and "\x00" not in user:
            key = await self._users.get(user, lambda: self.store.of_user(user))
        if key is None:
            raise Unauthenticated("the user that the proxy names has no rights here")
        secret = await self.secret("csrf")
        csrf = hmac.new(secret.encode(), f"{key.id} {user}".encode(), hashlib.sha256).hexdigest()
        return replace(self._valid(key), csrf=csrf)

    async def of_session(self, cookie: str) -> Caller:
        """The caller who logged in on the pages.

        Raises:
            Unauthenticated: The login has ended, or its key is invalid.
            Unavailable: The database does not answer.
        """
        hashed = hash_of(cookie)
        session = await self._sessions.get(hashed, lambda: self.store.session(hashed))
        if session is None or self.now() >= session[1]:
            raise Unauthenticated("the login has ended; log in again")
        caller = await self.of_id(session[0])
        return replace(caller, csrf=hash_of(f"csrf {cookie}"), logged_in=True)

    async def of_id(self, key_id: str) -> Caller:
        """The caller whose key has an id, for what was begun in its name.

        Raises:
            Unauthenticated: The key is unknown, expired or revoked.
            Unavailable: The database does not answer.
        """
        admin = self.policy.admin_token
        if admin is not None and key_id == _administrator(admin).key_id:
            return _administrator(admin)
        key = await self._keys.get(key_id, lambda: self.store.get(key_id))
        if key is None:
            raise Unauthenticated(_UNKNOWN)
        return self._valid(key)

    async def log_in(self, token: str) -> tuple[Caller, str, datetime]:
        """Open a login; returns the caller, the cookie, and when the login ends.

        Raises:
            Unauthenticated, Unavailable: As `of_token`.
        """
        caller, cookie, now = await self.of_token(token), secrets.token_urlsafe(32), self.now()
        until = now + SESSION
        await self.store.open_session(hash_of(cookie), caller.key_id, now, until)
        return caller, cookie, until

    async def log_out(self, cookie: str) -> None:
        """End a login; other processes notice within the lifetime.

        Raises:
            Unavailable: The database does not answer.
        """
        hashed = hash_of(cookie)
        await self.store.close_session(hashed)
        self._sessions.forget(hashed)

    async def secret(self, name: str) -> str:
        """A secret that the services share.

        Raises:
            Unavailable: The database does not answer.
        """
        if name not in self._secrets:
            self._secrets[name] = await self.store.secret(name, lambda: secrets.token_hex(32))
        return self._secrets[name]

    def _valid(self, key: StoredKey) -> Caller:
        if not key.valid_at(self.now()):
            raise Unauthenticated(_UNKNOWN)
        return Caller(
            key_id=key.id,
            roles=frozenset(Role(role) for role in key.roles),
            name=key.name,
            arenas=None if key.arenas is None else frozenset(key.arenas),
            per_minute=key.per_minute,
            battles_per_day=key.battles_per_day,
        )


_UNKNOWN = "the key is unknown, expired or revoked"


def _administrator(token: str) -> Caller:
    return Caller(key_id=f"administrator-{hash_of(token)[:8]}", roles=EVERY_ROLE)
