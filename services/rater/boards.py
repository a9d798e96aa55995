"""Boards computed from the outcomes table, and the announcement that they changed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import combinations

import structlog

from nuggetstream.domain.event import RatingsUpdated
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.combined import Combined, combine
from nuggetstream.ratings.counts import PairCount
from nuggetstream.ratings.fitting.tally import Tally, TiePolicy
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.lens_agreement import LensAgreement, agree
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import InvalidOption, Options
from nuggetstream.ratings.timeline import Every, Period, timeline
from services.rater.memory import Memory
from services.rater.options import naming_the_field
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.outcomes import Outcomes
from services.store.slices import EVERYTHING, Slice

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LensBoard:
    """One board with what it rests on.

    Attributes:
        arena: Arena of the battles.
        lens: Whose preference the board is made of.
        ratings: The ratings.
        slice: Filter that selects the battles.
        scored: Battles with an outcome in this lens.
        outcomes: Outcomes that were counted; a battle with two judges has two.
        received: Battles that the arena sent.
    """

    arena: str
    lens: Lens
    ratings: Ratings
    slice: Slice
    scored: int
    outcomes: int
    received: int


@dataclass(slots=True)
class Boards:
    """Computes boards on demand and keeps the latest results while their counts are the same.

    Attributes:
        outcomes: Table of outcomes, for the counts.
        battles: Table of battles, for the number received.
        policy: Tie policy unless a caller names another one.
        resamples: Resamples of the bootstrap unless a caller names another number.
        memory: Results computed before.
    """

    outcomes: Outcomes
    battles: Battles
    policy: TiePolicy = TiePolicy.HALF
    resamples: int = 1000
    memory: Memory = field(default_factory=Memory)

    @property
    def options(self) -> Options:
        """Default options of a board."""
        return Options(policy=self.policy, resamples=self.resamples)

    async def get(
        self,
        arena: str,
        lenses: Sequence[Lens] = tuple(Lens),
        options: Options | None = None,
        slice_: Slice = EVERYTHING,
    ) -> list[LensBoard]:
        """The boards of one arena; an unknown arena has empty ones.

        Raises:
            InvalidQuestion: The anchor is not ranked on a board that ranks others.
        """
        # Counts first and the number received last: no board counts battles that it says were never received.
        counts = [tuple(await self.outcomes.pair_counts(arena, lens, slice_)) for lens in lenses]
        scored = [await self.scored(arena, lens, slice_) for lens in lenses]
        received, options = await self.received(arena, slice_), options or self.options
        return [
            LensBoard(
                arena=arena,
                lens=lens,
                ratings=await self._rated(lens, cells, options),
                slice=slice_,
                scored=decided,
                outcomes=sum(cell.count for cell in cells),
                received=received,
            )
            for lens, cells, decided in zip(lenses, counts, scored, strict=True)
        ]

    async def pairs(self, arena: str, lens: Lens, options: Options, slice_: Slice) -> Ratings:
        """Ratings of one lens whose differences of every two systems are computed."""
        counts = tuple(await self.outcomes.pair_counts(arena, lens, slice_))
        options = replace(options, anchor=None)  # differences do not depend on it
        ratings = await self._rated(lens, counts, options)
        await self.memory.get(("pairs", counts, options), lambda: ratings.pairs)
        return ratings

    async def advice(
        self, arena: str, lens: Lens, options: Options, slice_: Slice, *, power: float, count: int
    ) -> tuple[Ratings, Advice]:
        """Ratings of one lens and what to ask next."""
        counts = tuple(await self.outcomes.pair_counts(arena, lens, slice_))
        ratings = await self._rated(lens, counts, options)
        advice = await self.memory.get(
            ("advice", counts, options, power, count), lambda: ratings.advice(power=power, count=count)
        )
        return ratings, advice

    async def timeline(
        self, arena: str, lens: Lens, options: Options, slice_: Slice, *, every: Every, cumulative: bool
    ) -> tuple[Period[Ratings], ...]:
        """Ratings of one lens over time.

        Raises:
            InvalidQuestion: There are too many periods.
        """
        counts = tuple(await self.outcomes.daily_counts(arena, lens, slice_))
        options = replace(options, anchor=None)  # it may be missing from a period
        with naming_the_field():
            return await self.memory.get(
                ("timeline", counts, options, every, cumulative),
                lambda: _timeline(counts, options, every, cumulative),
            )

    async def combined(self, arena: str, automatic: Lens, slice_: Slice, options: Options) -> Combined:
        """People's votes and automatic ones in one rating.

        Raises:
            InvalidQuestion: The anchor is not ranked.
        """
        joint = tuple(await self.outcomes.joint_counts(arena, Lens.HUMAN, automatic, slice_))
        with naming_the_field():
            return await self.memory.get(
                ("combined", joint, options), lambda: combine(JointVotes.of_counts(joint), options)
            )

    async def agreement(self, arena: str, policy: TiePolicy, slice_: Slice) -> list[LensAgreement]:
        """How far each two lenses agree."""
        options = replace(self.options, policy=policy)
        counts = {lens: tuple(await self.outcomes.pair_counts(arena, lens, slice_)) for lens in Lens}
        boards = {lens: await self._rated(lens, counts[lens], options) for lens in Lens}
        agreements = []
        for first, second in combinations(Lens, 2):
            joint = tuple(await self.outcomes.joint_counts(arena, first, second, slice_))
            strengths = boards[first].strengths, boards[second].strengths
            agreements.append(
                await self.memory.get(
                    ("agreement", joint, first, second, counts[first], counts[second], options),
                    partial(agree, (first, second), joint, strengths),
                )
            )
        return agreements

    async def scored(self, arena: str, lens: Lens, slice_: Slice) -> int:
        """Battles with an outcome in a lens."""
        return await self.outcomes.battles_decided(arena, lens, slice_)

    async def received(self, arena: str, slice_: Slice) -> int:
        """Battles that the arena sent."""
        return await self.battles.received(arena, slice_)

    async def _rated(self, lens: Lens, counts: tuple[PairCount, ...], options: Options) -> Ratings:
        with naming_the_field(f"on the {lens.value} board"):
            return await self.memory.get(("board", counts, options), lambda: board_of_counts(counts, options))


def board_of_counts(counts: Sequence[PairCount], options: Options) -> Ratings:
    """Ratings of one lens with everything that a board shows, computed in the caller's thread."""
    ratings = rate(counts, options)
    _ = ratings.notes, ratings.islands, ratings.fragility  # computed here, in a thread, and kept
    return ratings


def _timeline(
    counts: Sequence[tuple[datetime, PairCount]], options: Options, every: Every, cumulative: bool
) -> tuple[Period[Ratings], ...]:
    dated = ((day, count.system_a, count.system_b, count.winner, count.count) for day, count in counts)
    try:
        return timeline(dated, every, partial(_rate, options), cumulative=cumulative)
    except ValueError as error:
        raise InvalidOption("every", str(error)) from error


def _rate(options: Options, tally: Tally) -> Ratings:
    return rate(tally, options)


@dataclass(slots=True)
class Announcer:
    """Says that boards changed, at most once per `pause` seconds and arena.

    Attributes:
        outcomes: to say how many outcomes an arena now has.
        publish: sends the event.
        pause: seconds between announcements.
    """

    outcomes: Outcomes
    publish: Callable[[RatingsUpdated], Awaitable[object]]
    pause: float = 1.0
    _changed: set[str] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _outage: bool = False

    def changed(self, arena: str) -> None:
        """Note that an arena has a new outcome."""
        self._changed.add(arena)
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Announce until stopped; what is pending then is announced before returning."""
        stopping = asyncio.create_task(stop.wait())
        try:
            while not stop.is_set():
                waking = asyncio.create_task(self._wake.wait())
                await asyncio.wait({waking, stopping}, return_when=asyncio.FIRST_COMPLETED)
                waking.cancel()
                await self.announce()
                await asyncio.wait({stopping}, timeout=self.pause)
            await self.announce()
        finally:
            stopping.cancel()

    async def announce(self) -> None:
        """Publish one event for every arena that changed since the last time.

        An arena that cannot be announced now, because the broker or the database is away, stays noted; the
        log says so once, and once that it is over.
        """
        self._wake.clear()
        for arena in sorted(self._changed):
            self._changed.discard(arena)  # before counting: what changes meanwhile is announced again
            try:
                await self._announce(arena)
            except Unavailable as error:
                self.changed(arena)
                if not self._outage:
                    log.warning("boards cannot be announced now", why=error.detail)
                self._outage = True
            else:
                if self._outage:
                    log.info("boards are announced again")
                self._outage = False

    async def _announce(self, arena: str) -> None:
        now, count = datetime.now(UTC), await self.outcomes.count(arena)
        key = derived_id("ratings", arena, count, now.isoformat())
        await self.publish(RatingsUpdated(key, arena, count, now))
