"""A limit of calls at once, learnt from what the endpoint does with them.

    1 ── throughput grows by at least half ──> 4 ──> 16 ──> … the configured maximum
         it does not ──> back, and after a while tried again, upwards and downwards in turn
         a call is rejected or times out ──> half

Providers publish limits in requests per minute, local servers in batch slots, gateways not at all, and a
model on a processor is no faster with two calls than with one. So nobody has to know the right number.

Calls that wait for a slot get it in the order in which their battles began, so that those begun are finished
before others are.
"""

import asyncio
import heapq
import itertools
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from services.runtime.llm.speed import Speed

_FIRST = 1  # calls at once at an endpoint about which nothing is known
_STEP = 4  # times as many calls are tried upwards, so that a fast endpoint has its full number soon
_MORE = 1.5  # least growth of the throughput for which so many more calls at once are worth it
_FEWER = 1.15  # growth of the throughput with more calls at once, below which fewer are as good
_REST, _LONGEST_REST = 5, 40  # windows until another limit is tried; twice as many after a trial in vain
_CALLS, _MOST = 2, 32  # calls in a window: two for each slot up to 32, and at least one for each slot
_FULL, _OVERFULL = 0.9, 1.05  # shares of the slots that are taken while a call says something about the limit
_BATTLES = 10_000  # battles whose beginning is remembered


@dataclass(frozen=True, slots=True)
class Slot:
    """One running call.

    Attributes:
        began: When it began, by the clock of its limit.
        overloads: Number of times that the limit had been halved by then.
    """

    began: float
    overloads: int


@dataclass(slots=True, eq=False)
class _Window:
    """What was done under one limit, while as many calls ran as it allows.

    Attributes:
        began: When the limit was set.
        looked_at: When the last call ended.
        occupied: Seconds that all slots together had been taken by then.
        calls: Number of calls that ended.
        seconds: Seconds during which all slots were taken.
        work: What was done of them since the limit was set.
    """

    began: float
    looked_at: float
    occupied: float
    calls: int = 0
    seconds: float = 0.0
    work: float = 0.0


@dataclass(order=True, slots=True)
class _Waiting:
    order: tuple[int, int]
    turn: asyncio.Future[None] = field(compare=False)


class AdaptiveLimit:
    """The number of calls that may run at the same time.

    Args:
        maximum: Largest value of the limit.
        initial: Initial value; 1 by default.
        clock: Monotonic time in seconds.

    Attributes:
        value: Number of calls that may run at once now.
    """

    def __init__(
        self, maximum: int, initial: int | None = None, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        if maximum < 1:
            raise ValueError("at least one call must be allowed")
        self.maximum, self.value, self._clock = maximum, min(initial or _FIRST, maximum), clock
        self._running = 0
        self._occupied, self._changed_at = 0.0, clock()
        self._waiting: list[_Waiting] = []
        self._arrivals = itertools.count()
        self._battles: OrderedDict[str | None, int] = OrderedDict()
        self._window = self._new_window()
        self._before: tuple[int, float] | None = None  # limit and throughput before the one that is tried
        self._rest, self._upwards = 0, True
        self._settled = 0  # the limit after the last trial
        self._next_rest = _REST
        self._overloads = 0

    @asynccontextmanager
    async def slot(self, battle_id: str | None = None) -> AsyncIterator[Slot]:
        """Wait for a slot and hold it for the duration of the block.

        Args:
            battle_id: The battle that the call is made for; calls of battles that began earlier go first.
        """
        await self._turn(battle_id)
        try:
            self._run(0)
            yield Slot(self._changed_at, self._overloads)
        finally:
            self._run(-1)
            self._admit()

    def succeeded(self, slot: Slot, work: float) -> None:
        """Record that a call succeeded; called while it still holds its slot.

        Args:
            slot: The slot of the call.
            work: How much was done, in any unit that is the same for all calls, such as tokens.
        """
        self._run(0)
        window, now = self._window, self._changed_at
        seconds, occupied = now - window.looked_at, self._occupied - window.occupied
        window.looked_at, window.occupied = now, self._occupied
        slots = self.value * seconds
        if not _FULL * slots <= occupied <= _OVERFULL * slots:
            return  # it says nothing about the current limit
        window.calls += 1
        window.seconds += seconds
        window.work += work * (now - max(slot.began, window.began)) / max(now - slot.began, 1e-9)
        if window.calls >= max(self.value, min(_CALLS * self.value, _MOST)):
            self._learn(window.work / max(window.seconds, 1e-9))

    def overloaded(self, slot: Slot) -> None:
        """Record that a call was rejected or timed out: halve the limit, once for all calls that ran then.

        Thirty calls rejected together are one signal. Calls that began before the limit was last halved say
        nothing about the current limit.
        """
        if slot.overloads == self._overloads:
            self._overloads += 1
            self._settle(max(1, self.value // 2))

    def _learn(self, throughput: float) -> None:
        """Decide about the limit from the throughput of a whole window."""
        if self._before is None:
            self._rest -= 1
            if self._rest <= 0:
                self._try(throughput, upwards=self._upwards)
            else:
                self._window = self._new_window()
            return
        value, before = self._before
        if self.value > value:
            if throughput >= _MORE * before:
                self._try(throughput, upwards=True)
            else:
                self._settle(value)
        elif before >= _FEWER * throughput:
            self._settle(value)
        else:  # fewer calls at once are as good, and each of them ends sooner
            self._try(throughput, upwards=False)

    def _try(self, throughput: float, *, upwards: bool) -> None:
        """Try the next limit; stay where there is none."""
        value = min(self.maximum, _STEP * self.value) if upwards else max(1, self.value // 2)
        if value == self.value:
            self._settle(value)
        else:
            self._before = (self.value, throughput)
            self._set(value)

    def _settle(self, value: int) -> None:
        self._next_rest = min(2 * self._next_rest, _LONGEST_REST) if value == self._settled else _REST
        self._before, self._settled = None, value
        self._rest, self._upwards = self._next_rest, not self._upwards
        self._set(value)

    def _set(self, value: int) -> None:
        self.value, self._window = value, self._new_window()
        self._admit()

    def _new_window(self) -> _Window:
        return _Window(began=self._changed_at, looked_at=self._changed_at, occupied=self._occupied)

    async def _turn(self, battle_id: str | None) -> None:
        """Take a slot, after those that were there before and those of earlier battles."""
        if self._running < self.value and not self._waiting:
            self._begun(battle_id)
            self._run(1)
            return
        turn = asyncio.get_running_loop().create_future()
        order = (self._begun(battle_id), next(self._arrivals))
        heapq.heappush(self._waiting, _Waiting(order, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it has got its slot meanwhile
                self._run(-1)
                self._admit()
            raise

    def _begun(self, battle_id: str | None) -> int:
        """The place of a battle among all, by its first call; calls of no battle are in order of arrival."""
        if battle_id is None:
            return next(self._arrivals)
        arrival = self._battles.setdefault(battle_id, next(self._arrivals))
        if len(self._battles) > _BATTLES:
            self._battles.popitem(last=False)
        return arrival

    def _admit(self) -> None:
        """Give free slots to those who wait."""
        while self._running < self.value and self._waiting:
            turn = heapq.heappop(self._waiting).turn
            if not turn.done():  # its caller may have been cancelled
                self._run(1)
                turn.set_result(None)

    def _run(self, more: int) -> None:
        """So many more calls run from now on."""
        now = self._clock()
        self._occupied += self._running * (now - self._changed_at)
        self._changed_at = now
        self._running += more


class Limits:
    """The limits and speeds of the endpoints that one process asks; all its clients share them."""

    def __init__(self) -> None:
        self._by_url: dict[str, AdaptiveLimit] = {}
        self._speeds: dict[tuple[str, str, float], Speed] = {}

    def of(self, url: str, maximum: int) -> AdaptiveLimit:
        """The limit of an endpoint, with this maximum where it is new."""
        return self._by_url.setdefault(url, AdaptiveLimit(maximum))

    def speed_of(self, url: str, model: str, least_s: float) -> Speed:
        """The speed of a model at an endpoint, which may always be silent for so many seconds."""
        return self._speeds.setdefault((url, model, least_s), Speed(least_s))
