"""Limits of a key: requests per minute, counted per process, and battles per day, counted in the database."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from services.access.callers import Caller, TooMany
from services.store.api_keys import ApiKeys, today

_REMEMBERED = 10_000
_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class Rates:
    """Requests per minute of each key in this process: a bucket that holds one minute's and refills steadily.

    Attributes:
        clock: Seconds on a clock that never goes back.
    """

    clock: Callable[[], float] = time.monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, caller: Caller) -> None:
        """Count one request.

        Raises:
            TooMany: The key has sent its requests of this minute.
        """
        if caller.per_minute is None:
            return
        now, most = self.clock(), float(caller.per_minute)
        left, at = self._left.get(caller.key_id, (most, now))
        left = min(most, left + (now - at) * most / _MINUTE)
        if left < 1:
            self._left[caller.key_id] = (left, now)
            wait = (1 - left) * _MINUTE / most
            raise TooMany(f"this key may send {caller.per_minute} requests per minute", wait)
        if len(self._left) >= _REMEMBERED:
            self._left.clear()  # every key begins with a full minute
        self._left[caller.key_id] = (left - 1, now)


@dataclass(frozen=True, slots=True)
class Quotas:
    """Battles that keys submit per day in UTC, over all processes.

    Attributes:
        store: The keys in the database.
        now: The time.
    """

    store: ApiKeys
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def take(self, caller: Caller, battles: int) -> int:
        """Count battles that a caller submits; returns how many of them it may.

        Raises:
            Unavailable: The database does not answer.
        """
        limit = caller.battles_per_day
        if limit is None or not battles:
            return battles
        return await self.store.take(caller.key_id, battles, limit, today(self.now()))

    def exhausted(self, caller: Caller) -> TooMany:
        """The error of a battle over the quota."""
        now = self.now().astimezone(UTC)
        midnight = (now + timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
        seconds = math.ceil((midnight - now).total_seconds())
        return TooMany(f"this key may submit {caller.battles_per_day} battles per day (UTC)", seconds)
