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
from nuggetstream.ratings.counts import JointCount, PairCount
from nuggetstream.ratings.leaderboard import Anchor, Board
from nuggetstream.ratings.tally import TiePolicy
from services.rater.advice import Advised, advise
from services.rater.agreement import LensAgreement, agree, ratings_of
from services.rater.combined import Combined, combine
from services.rater.memory import Memory
from services.rater.options import InvalidQuestion, Options
from services.rater.pairwise import Compared, compare
from services.rater.rating import BoardState, Rated, rate
from services.runtime.errors import Unavailable
from services.store.battles import Battles
from services.store.outcomes import Outcomes
from services.store.slices import EVERYTHING, Slice

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class LensBoard:
    """One board with what it rests on.

    Attributes:
        options: how it was asked for.
        among: the battles it is about.
        scored: battles with an outcome in this lens.
        outcomes: that were counted; a battle with two judges has two.
        received: battles the arena sent.
    """

    arena: str
    lens: Lens
    rated: Rated
    options: Options
    among: Slice
    scored: int
    outcomes: int
    received: int

    @property
    def board(self) -> Board:
        """The standings and how they were made."""
        return self.rated.board

    @property
    def state(self) -> BoardState:
        """What the battles allowed to say."""
        return self.rated.state


@dataclass(slots=True)
class Boards:
    """Computes boards on demand; those asked for last are kept while their counts are the same.

    Attributes:
        outcomes: the counts.
        battles: to know how many were received.
        policy: what a tie says, unless asked otherwise.
        resamples: of the bootstrap, likewise.
        memory: what was computed.
    """

    outcomes: Outcomes
    battles: Battles
    policy: TiePolicy = TiePolicy.HALF
    resamples: int = 1000
    memory: Memory = field(default_factory=Memory)

    @property
    def options(self) -> Options:
        """How boards are made when nobody asks for anything else."""
        return Options(policy=self.policy, resamples=self.resamples)

    async def get(
        self,
        arena: str,
        lenses: Sequence[Lens] = tuple(Lens),
        options: Options | None = None,
        among: Slice = EVERYTHING,
    ) -> list[LensBoard]:
        """The boards of one arena; an arena nobody has heard of has empty ones.

        Raises:
            InvalidQuestion: the anchor is not ranked on a board that ranks others.
        """
        # Before anything is computed, and what was received last: no board rests on battles that it says
        # were never received.
        counts = [tuple(await self.outcomes.pair_counts(arena, lens, among)) for lens in lenses]
        scored = [await self.scored(arena, lens, among) for lens in lenses]
        received, options = await self.received(arena, among), options or self.options
        return [
            LensBoard(
                arena=arena,
                lens=lens,
                rated=await self._rated(lens, cells, options),
                options=options,
                among=among,
                scored=decided,
                outcomes=sum(cell.count for cell in cells),
                received=received,
            )
            for lens, cells, decided in zip(lenses, counts, scored, strict=True)
        ]

    async def pairs(self, arena: str, lens: Lens, options: Options, among: Slice) -> Compared:
        """Every pair of systems of one lens."""
        counts = tuple(await self.outcomes.pair_counts(arena, lens, among))
        options = replace(options, anchor=None)  # differences have no zero
        return await self.memory.get(("pairs", counts, options), lambda: compare(counts, options))

    async def advice(
        self, arena: str, lens: Lens, options: Options, among: Slice, *, power: float, count: int
    ) -> Advised:
        """What to ask next."""
        counts = tuple(await self.outcomes.pair_counts(arena, lens, among))
        return await self.memory.get(
            ("advice", counts, options, power, count),
            lambda: advise(counts, options, power=power, count=count),
        )

    async def combined(
        self, arena: str, automatic: Lens, among: Slice, *, level: float, anchor: Anchor | None
    ) -> Combined:
        """People's votes and automatic ones in one rating.

        Raises:
            InvalidQuestion: the anchor is not ranked.
        """
        joint = tuple(await self.outcomes.joint_counts(arena, Lens.HUMAN, automatic, among))
        return await self.memory.get(
            ("combined", joint, level, anchor), lambda: combine(joint, level=level, anchor=anchor)
        )

    async def agreement(self, arena: str, policy: TiePolicy, among: Slice) -> list[LensAgreement]:
        """How far each two lenses agree."""
        counts = {lens: tuple(await self.outcomes.pair_counts(arena, lens, among)) for lens in Lens}
        found = []
        for first, second in combinations(Lens, 2):
            joint = tuple(await self.outcomes.joint_counts(arena, first, second, among))
            found.append(
                await self.memory.get(
                    ("agreement", first, second, joint, counts[first], counts[second], policy),
                    partial(_agreement, (first, second), joint, (counts[first], counts[second]), policy),
                )
            )
        return found

    async def scored(self, arena: str, lens: Lens, among: Slice) -> int:
        """Battles with an outcome in a lens."""
        return await self.outcomes.battles_decided(arena, lens, among)

    async def received(self, arena: str, among: Slice) -> int:
        """Battles the arena sent."""
        return await self.battles.received(arena, among)

    async def _rated(self, lens: Lens, counts: tuple[PairCount, ...], options: Options) -> Rated:
        try:
            return await self.memory.get(("board", counts, options), lambda: rate(counts, options))
        except InvalidQuestion as error:
            raise InvalidQuestion(error.field, f"on the {lens.value} board {error.why}") from error


def _agreement(
    lenses: tuple[Lens, Lens],
    joint: Sequence[JointCount],
    counts: tuple[Sequence[PairCount], Sequence[PairCount]],
    policy: TiePolicy,
) -> LensAgreement:
    return agree(lenses, joint, (ratings_of(counts[0], policy), ratings_of(counts[1], policy)))


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
