"""Boards computed from the counters of outcomes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from itertools import combinations

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import INDEPENDENT, JUDGED, Lens, source_of_judge
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.combined import combine
from nuggetstream.ratings.comparison import LensAgreement
from nuggetstream.ratings.fitting.weights import WeightMemory
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.lens_agreement import agree
from nuggetstream.ratings.method import method_of
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.pairwise import pairings
from nuggetstream.ratings.ties import TiePolicy
from nuggetstream.ratings.timeline import Period
from nuggetstream.views.comparisons import AdviceView, AgreementView, CombinedView, PairsView
from nuggetstream.views.ratings import BoardView, TimelineView
from services.rater.counting import Counted, board_of_counts, timeline_of
from services.rater.memory import Memory
from services.rater.options import naming_the_field
from services.rater.views import advice_view, board_view, pairs_view, period_view
from services.store.battles.battles import Battles
from services.store.outcomes.outcomes import Outcomes
from services.wire.rating_queries import (
    AdviceQuery,
    AgreementQuery,
    BoardsQuery,
    CombinedQuery,
    PairsQuery,
    TimelineQuery,
)

_POWER, _COUNT = 0.8, 10  # of advice, where nobody says otherwise
_COUNTS_KEPT = 64  # lenses and slices; one over a hundred systems takes a quarter of a megabyte
_WEIGHTS_KEPT = 2**28  # bytes; four boards over a hundred systems, more over fewer


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The boards of an arena; the message `GetLeaderboardResponse`.

    Attributes:
        boards: One board per lens.
        computed_at: When they were computed.
    """

    boards: Sequence[BoardView]
    computed_at: datetime


@dataclass(slots=True)
class Boards:
    """Computes boards on demand and keeps the latest results while their counts are the same.

    Attributes:
        outcomes: Table of outcomes, for the counts.
        battles: Table of battles, for the number received.
        policy: Tie policy unless a caller names another one.
        memory: Results computed before.
        weights: Weights of resamples drawn before; a new outcome changes few of them.
    """

    outcomes: Outcomes
    battles: Battles
    policy: TiePolicy = TiePolicy.HALF
    memory: Memory = field(default_factory=Memory)
    weights: WeightMemory = field(default_factory=partial(WeightMemory, _WEIGHTS_KEPT))
    _counted: dict[tuple[str, Lens, Slice], Counted] = field(default_factory=dict, init=False)

    @property
    def options(self) -> Options:
        """Default options of a board."""
        return Options(policy=self.policy)

    async def leaderboard(self, query: BoardsQuery) -> Leaderboard:
        """The boards of one arena, of the three independent lenses by default.

        Raises:
            InvalidQuestion: The anchor is not ranked on a board that ranks others.
        """
        slice_, options = query.selection(), self._options(query)
        boards = await self.get(query.arena, query.lenses or INDEPENDENT, options, slice_)
        return Leaderboard(boards, datetime.now(UTC))

    async def get(
        self,
        arena: str,
        lenses: Sequence[Lens] = INDEPENDENT,
        options: Options | None = None,
        slice_: Slice = EVERYTHING,
    ) -> list[BoardView]:
        """The boards of one arena; an unknown arena has empty ones.

        Raises:
            InvalidQuestion: The anchor is not ranked on a board that ranks others.
        """
        # Counts first and the number received last: no board counts battles that it says were never received.
        counts = [await self._counts(arena, lens, slice_) for lens in lenses]
        received, options = await self._received(arena, slice_), options or self.options
        flagged = await self._received(arena, slice_.having(Flagged.ONLY))
        judges = {lens: await self.outcomes.evaluators(arena, lens) for lens in lenses if lens in JUDGED}
        detected = await self.battles.detected(arena, slice_)
        return [
            board_view(
                counted,
                await self._rated(counted, options),
                slice_,
                received=received,
                flagged=flagged,
                evaluators=judges.get(counted.lens, ()),
                detected=detected,
            )
            for counted in counts
        ]

    async def pairs(self, query: PairsQuery) -> PairsView:
        """Every pair of systems on one board."""
        slice_, options = query.selection(), self._options(query)
        counted = await self._counts(query.arena, query.lens, slice_)
        ratings = await self._rated(counted, options)
        pairs = await self.memory.computed(("pairs", counted.key, options), partial(pairings, ratings))
        received = await self._received(query.arena, slice_)
        return pairs_view(counted, ratings, slice_, pairs, received=received)

    async def advice(self, query: AdviceQuery) -> AdviceView:
        """What to ask next; with sandwich intervals, which need no resamples."""
        slice_ = query.selection()
        own = TiePolicy.HALF if self.policy.models_ties else self.policy
        level = query.level or Options().level
        policy = TiePolicy(query.ties or own)
        options = Options(policy=policy, intervals=Intervals.SANDWICH, level=level)
        counted = await self._counts(query.arena, query.lens, slice_)
        ratings = await self._rated(counted, options)
        power, count = query.power or _POWER, query.count or _COUNT
        advice = await self.memory.computed(
            ("advice", counted.key, options, power, count), partial(advise, ratings, power=power, count=count)
        )
        received = await self._received(query.arena, slice_)
        return advice_view(counted, ratings, slice_, advice, received=received)

    async def timeline(self, query: TimelineQuery) -> TimelineView:
        """Ratings of one lens over time.

        Raises:
            InvalidQuestion: There are too many periods.
        """
        slice_ = query.selection()
        arena, lens, every, cumulative = query.arena, query.lens, query.every, query.cumulative
        options = replace(self._options(query), anchor=None)  # it may be missing from a period
        stamp = await self.outcomes.stamp(arena, lens, slice_)

        async def compute() -> tuple[Period[Ratings], ...]:
            dated = await self.outcomes.dated(arena, lens, slice_, every)
            return await asyncio.to_thread(timeline_of, dated, options, every, cumulative)

        with naming_the_field():
            key = ("timeline", arena, lens, slice_, stamp, options, every, cumulative)
            periods = await self.memory.get(key, compute)
        return TimelineView(
            arena=arena,
            lens=lens,
            every=every,
            cumulative=cumulative,
            periods=[*map(period_view, periods)],
            method=method_of(options, slice_),
            scored=(await self._counts(arena, lens, slice_)).counts.decided,
            received=await self._received(arena, slice_),
        )

    async def combined(self, query: CombinedQuery) -> CombinedView:
        """People's votes and automatic ones in one rating.

        Raises:
            InvalidQuestion: The anchor is not ranked.
        """
        arena, slice_ = query.arena, query.selection()
        level = query.level or Options().level
        options = Options(intervals=Intervals.SANDWICH, level=level, anchor=query.anchor)
        joint = tuple(await self.outcomes.joint_counts(arena, Lens.HUMAN, query.automatic, slice_))
        with naming_the_field():
            combined = await self.memory.computed(
                ("combined", joint, options), lambda: combine(JointVotes.of_counts(joint), options)
            )
        if not combined.systems:
            options = replace(options, anchor=None)  # there is no scale to fix
        return CombinedView.showing(
            combined,
            arena=arena,
            automatic_lens=query.automatic,
            received=await self._received(arena, slice_),
            method=method_of(options, slice_),
        )

    async def agreement(self, query: AgreementQuery) -> AgreementView:
        """How far each two lenses agree, and each two judges unless the slice is of one."""
        arena, slice_, policy = query.arena, query.selection(), query.ties or self.policy
        return AgreementView(
            arena=arena,
            pairs=await self._agreements(arena, replace(self.options, policy=policy), slice_),
            received=await self._received(arena, slice_),
            tie_policy=policy,
            slice=slice_,
        )

    async def _agreements(self, arena: str, options: Options, slice_: Slice) -> list[LensAgreement]:
        counted = {lens: await self._counts(arena, lens, slice_) for lens in INDEPENDENT}
        boards = {lens: await self._rated(counted[lens], options) for lens in INDEPENDENT}
        agreements = []
        for first, second in combinations(INDEPENDENT, 2):
            key = ("joint", counted[first].key, counted[second].key)
            joint = await self.memory.get(
                key, partial(self.outcomes.joint_totals, arena, first, second, slice_)
            )
            strengths = boards[first].strengths, boards[second].strengths
            agreements.append(
                await self.memory.computed((*key, options), partial(agree, (first, second), joint, strengths))
            )
        if slice_.evaluator is None:
            pairs = combinations(await self.outcomes.evaluators(arena), 2)
            agreements += [await self._agreement_of(arena, pair, options, slice_) for pair in pairs]
        return agreements

    async def _agreement_of(
        self, arena: str, two: tuple[str, str], options: Options, slice_: Slice
    ) -> LensAgreement:
        """How far two judges agree."""
        counted = [await self._counts(arena, Lens.JUDGE, replace(slice_, evaluator=name)) for name in two]
        boards = [await self._rated(counts, options) for counts in counted]
        key = ("sources", *(counts.key for counts in counted))
        first, second = map(source_of_judge, two)
        totals = partial(self.outcomes.sources_totals, arena, first, second, slice_)
        joint = await self.memory.get(key, totals)
        lenses, strengths = (Lens.JUDGE, Lens.JUDGE), (boards[0].strengths, boards[1].strengths)
        agreement = await self.memory.computed((*key, options), partial(agree, lenses, joint, strengths))
        return replace(agreement, first_evaluator=two[0], second_evaluator=two[1])

    def _options(self, query: BoardsQuery | PairsQuery | TimelineQuery) -> Options:
        with naming_the_field():
            return query.rating(self.options)

    async def _received(self, arena: str, slice_: Slice) -> int:
        """Battles that the arena sent."""
        return await self.battles.received(arena, slice_)

    async def _counts(self, arena: str, lens: Lens, slice_: Slice) -> Counted:
        """Counts as they are now; those read before are used again while their stamp is the same."""
        slice_ = slice_.of(lens)
        key = (arena, lens, slice_)
        counted = self._counted.pop(key, None)
        if counted is None or counted.counts.stamp != await self.outcomes.stamp(arena, lens, slice_):
            counted = Counted(arena, lens, slice_, await self.outcomes.lens_counts(arena, lens, slice_))
        self._counted[key] = counted
        if len(self._counted) > _COUNTS_KEPT:
            del self._counted[next(iter(self._counted))]
        return counted

    async def _rated(self, counted: Counted, options: Options) -> Ratings:
        with naming_the_field(f"on the {counted.lens.value} board"):
            return await self.memory.computed(
                ("board", counted.key, options),
                lambda: board_of_counts(counted.counts.tally, options, self.weights),
            )
