"""Limits of a key: requests per minute, counted per process, and battles per day, counted in the database.

Attempts to log in, and votes with tokens of frames, are limited, too, per process.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from services.access.callers import Caller, TooMany
from services.store.access.api_keys import ApiKeys, today

PARTICIPANTS = 60
"""People per minute and process who begin a study from one address, such as a university's."""
FRAME_VOTES = 10
"""Votes per minute and process that one battle takes with tokens of its frames."""
_ATTEMPTS = 10  # failed logins that one address has at once, and per minute
_REMEMBERED = 10_000
_MINUTE = 60.0


@dataclass(slots=True, eq=False)
class _Buckets:
    """Buckets that hold one minute's worth and refill steadily; the 10,000 used last are remembered.

    Attributes:
        clock: Seconds on a clock that never goes back.
    """

    clock: Callable[[], float] = time.monotonic
    _left: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def _take(self, name: str, per_minute: int, message: str) -> None:
        left = self._of(name, per_minute)
        if left < 1:
            raise TooMany(message, (1 - left) * _MINUTE / per_minute)
        self._put(name, left - 1)

    def _of(self, name: str, per_minute: int) -> float:
        left, at = self._left.get(name, (float(per_minute), self.clock()))
        return min(float(per_minute), left + (self.clock() - at) * per_minute / _MINUTE)

    def _put(self, name: str, left: float) -> None:
        self._left[name] = (left, self.clock())
        self._left.move_to_end(name)
        while len(self._left) > _REMEMBERED:
            self._left.popitem(last=False)


class Rates(_Buckets):
    """Requests per minute of each key in this process."""

    def take(self, caller: Caller) -> None:
        """Count one request. The requests of each frame are counted apart from those of the key itself.

        Raises:
            TooMany: The key has sent its requests of this minute.
        """
        if caller.per_minute is not None:
            name = caller.key_id if caller.frame is None else f"{caller.key_id} {caller.frame}"
            self._take(name, caller.per_minute, f"this key may send {caller.per_minute} requests per minute")

    def take_vote(self, battle_id: str) -> None:
        """Count one vote on a battle with a token of its frame.

        Raises:
            TooMany: The battle has had its votes of this minute.
        """
        message = f"a battle takes {FRAME_VOTES} votes per minute from its frames"
        self._take(f"votes {battle_id}", FRAME_VOTES, message)

    def take_participant(self, address: str) -> None:
        """Count somebody who begins a study.

        Raises:
            TooMany: Others have begun from the address within this minute.
        """
        message = f"{PARTICIPANTS} people per minute may begin from one address; try again in a minute"
        self._take(f"participants {address}", PARTICIPANTS, message)


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


class Attempts(_Buckets):
    """Failed logins of each client address in this process.

    Each has ten at once, and then one more every six seconds. Attempts with one key are not limited: nobody
    guesses its secret, and whoever knows its public part could lock its owner out.
    """

    def take(self, address: str) -> None:
        """Count an attempt, which has failed unless `succeeded` is called.

        Raises:
            TooMany: The address has failed too often.
        """
        self._take(address, _ATTEMPTS, "too many attempts to log in; try again later")

    def succeeded(self, address: str) -> None:
        """Take back an attempt that did not fail."""
        self._put(address, min(float(_ATTEMPTS), self._of(address, _ATTEMPTS) + 1))
