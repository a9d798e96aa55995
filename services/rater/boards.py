"""Boards computed from the counters of outcomes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import combinations

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import INDEPENDENT, JUDGED, Lens, source_of_judge
from nuggetstream.domain.note import Note
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.combined import Combined, combine
from nuggetstream.ratings.counts import PairCount, tally_of
from nuggetstream.ratings.fitting.tally import Tally, TiePolicy
from nuggetstream.ratings.fitting.votes import Counted as Votes
from nuggetstream.ratings.fitting.weights import WeightMemory
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.lens_agreement import LensAgreement, agree
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import InvalidOption, Options
from nuggetstream.ratings.timeline import Every, Period, timeline_of_tallies
from services.rater.memory import Memory
from services.rater.notes import detected_language, several_judges
from services.rater.options import naming_the_field
from services.store.battles import Battles
from services.store.outcomes import LensCounts, Outcomes
from services.store.slices import EVERYTHING, Slice

_COUNTS_KEPT = 64  # lenses and slices; one over a hundred systems takes a quarter of a megabyte
_WEIGHTS_KEPT = 2**28  # bytes; four boards over a hundred systems, more over fewer


@dataclass(frozen=True, slots=True, kw_only=True)
class LensBoard:
    """One board with what it rests on.

    Attributes:
        arena: Arena of the battles.
        lens: Whose preference the board is made of.
        ratings: The ratings.
        slice: Filter that selects the battles.
        scored: Battles with an outcome in this lens.
        outcomes: Outcomes that were counted, one per battle; of several judges their common outcome.
        received: Battles that the arena sent.
        evaluators: Judges with outcomes in the arena and lens; empty for a lens without judges.
        probable: Outcomes that counted by their probabilities; None where all count as they are.
        detected: Of the battles received, with a filter by language, those whose language was detected.
        flagged: Battles received with a flagged answer, whether they count or not.
    """

    arena: str
    lens: Lens
    ratings: Ratings
    slice: Slice
    scored: int
    outcomes: int
    received: int
    evaluators: Sequence[str] = ()
    probable: int | None = None
    detected: int = 0
    flagged: int = 0

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the board is read."""
        notes = [*self.ratings.notes]
        if len(self.evaluators) > 1 and self.slice.evaluator is None:
            notes.append(several_judges(len(self.evaluators)))
        if self.detected:
            notes.append(detected_language(self.detected, self.received))
        return tuple(notes)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Counts of one lens, and which battles they are of.

    Attributes:
        arena: Arena of the battles.
        lens: The lens.
        slice: Filter that selects the battles.
        counts: The counts.
    """

    arena: str
    lens: Lens
    slice: Slice
    counts: LensCounts

    @property
    def key(self) -> tuple[object, ...]:
        """What identifies these counts: no other state has the same stamp, and without one there are none."""
        return (self.arena, self.lens, self.slice, self.counts.stamp)


@dataclass(slots=True)
class Boards:
    """Computes boards on demand and keeps the latest results while their counts are the same.

    Attributes:
        outcomes: Table of outcomes, for the counts.
        battles: Table of battles, for the number received.
        policy: Tie policy unless a caller names another one.
        resamples: Resamples of the bootstrap unless a caller names another number.
        flagged: Whether flagged battles count unless a caller says otherwise.
        memory: Results computed before.
        weights: Weights of resamples drawn before; a new outcome changes few of them.
    """

    outcomes: Outcomes
    battles: Battles
    policy: TiePolicy = TiePolicy.HALF
    resamples: int = 1000
    flagged: Flagged = Flagged.INCLUDE
    memory: Memory = field(default_factory=Memory)
    weights: WeightMemory = field(default_factory=partial(WeightMemory, _WEIGHTS_KEPT))
    _counted: dict[tuple[str, Lens, Slice], Counted] = field(default_factory=dict, init=False)

    @property
    def options(self) -> Options:
        """Default options of a board."""
        return Options(policy=self.policy, resamples=self.resamples)

    async def get(
        self,
        arena: str,
        lenses: Sequence[Lens] = INDEPENDENT,
        options: Options | None = None,
        slice_: Slice = EVERYTHING,
    ) -> list[LensBoard]:
        """The boards of one arena; an unknown arena has empty ones.

        Raises:
            InvalidQuestion: The anchor is not ranked on a board that ranks others.
        """
        # Counts first and the number received last: no board counts battles that it says were never received.
        counts = [await self._counts(arena, lens, slice_) for lens in lenses]
        received, options = await self.received(arena, slice_), options or self.options
        flagged = await self.received(arena, slice_.having(Flagged.ONLY))
        judges = {lens: await self.outcomes.evaluators(arena, lens) for lens in lenses if lens in JUDGED}
        detected = await self.battles.detected(arena, slice_)
        return [
            LensBoard(
                arena=arena,
                lens=counted.lens,
                ratings=await self._rated(counted, options),
                slice=slice_,
                scored=counted.counts.decided,
                outcomes=counted.counts.outcomes,
                received=received,
                evaluators=judges.get(counted.lens, ()),
                probable=counted.counts.probable,
                detected=detected,
                flagged=flagged,
            )
            for counted in counts
        ]

    async def pairs(self, arena: str, lens: Lens, options: Options, slice_: Slice) -> Ratings:
        """Ratings of one lens whose differences of every two systems are computed."""
        counted = await self._counts(arena, lens, slice_)
        options = replace(options, anchor=None)  # differences do not depend on it
        ratings = await self._rated(counted, options)
        await self.memory.get(("pairs", counted.key, options), lambda: ratings.pairs)
        return ratings

    async def advice(
        self, arena: str, lens: Lens, options: Options, slice_: Slice, *, power: float, count: int
    ) -> tuple[Ratings, Advice]:
        """Ratings of one lens and what to ask next."""
        counted = await self._counts(arena, lens, slice_)
        ratings = await self._rated(counted, options)
        advice = await self.memory.get(
            ("advice", counted.key, options, power, count), lambda: ratings.advice(power=power, count=count)
        )
        return ratings, advice

    async def timeline(
        self, arena: str, lens: Lens, options: Options, slice_: Slice, *, every: Every, cumulative: bool
    ) -> tuple[Period[Ratings], ...]:
        """Ratings of one lens over time.

        Raises:
            InvalidQuestion: There are too many periods.
        """
        options = replace(options, anchor=None)  # it may be missing from a period
        stamp = await self.outcomes.stamp(arena, lens, slice_)

        async def compute() -> tuple[Period[Ratings], ...]:
            dated = await self.outcomes.dated(arena, lens, slice_, every)
            return await asyncio.to_thread(_timeline, dated, options, every, cumulative)

        with naming_the_field():
            key = ("timeline", arena, lens, slice_, stamp, options, every, cumulative)
            return await self.memory.awaited(key, compute)

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
        """How far each two lenses agree, and each two judges unless the slice is of one."""
        options = replace(self.options, policy=policy)
        counted = {lens: await self._counts(arena, lens, slice_) for lens in INDEPENDENT}
        boards = {lens: await self._rated(counted[lens], options) for lens in INDEPENDENT}
        agreements = []
        for first, second in combinations(INDEPENDENT, 2):
            key = ("joint", counted[first].key, counted[second].key)
            joint = await self.memory.awaited(
                key, partial(self.outcomes.joint_totals, arena, first, second, slice_)
            )
            strengths = boards[first].strengths, boards[second].strengths
            agreements.append(
                await self.memory.get((*key, options), partial(agree, (first, second), joint, strengths))
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
        joint = await self.memory.awaited(key, totals)
        lenses, strengths = (Lens.JUDGE, Lens.JUDGE), (boards[0].strengths, boards[1].strengths)
        agreement = await self.memory.get((*key, options), partial(agree, lenses, joint, strengths))
        return replace(agreement, first_evaluator=two[0], second_evaluator=two[1])

    async def scored(self, arena: str, lens: Lens, slice_: Slice) -> int:
        """Battles with an outcome in a lens."""
        return (await self._counts(arena, lens, slice_)).counts.decided

    async def received(self, arena: str, slice_: Slice) -> int:
        """Battles that the arena sent."""
        return await self.battles.received(arena, slice_)

    async def _counts(self, arena: str, lens: Lens, slice_: Slice) -> Counted:
        """Counts as they are now; those read before are used again while their stamp is the same."""
        slice_ = slice_.of(lens)
        place = (arena, lens, slice_)
        known = self._counted.pop(place, None)
        if known is None or known.counts.stamp != await self.outcomes.stamp(arena, lens, slice_):
            known = Counted(arena, lens, slice_, await self.outcomes.lens_counts(arena, lens, slice_))
        self._counted[place] = known
        if len(self._counted) > _COUNTS_KEPT:
            del self._counted[next(iter(self._counted))]
        return known

    async def _rated(self, counted: Counted, options: Options) -> Ratings:
        with naming_the_field(f"on the {counted.lens.value} board"):
            return await self.memory.get(
                ("board", counted.key, options),
                lambda: board_of_counts(counted.counts.tally, options, self.weights),
            )


def board_of_counts(
    counts: Tally | Sequence[PairCount], options: Options, weights: WeightMemory | None = None
) -> Ratings:
    """Ratings of one lens with everything that a board shows, computed in the caller's thread."""
    tally = counts if isinstance(counts, Tally) else tally_of(counts)
    ratings = rate(Votes(tally, weights), options)
    _ = ratings.notes, ratings.islands, ratings.fragility  # computed here, in a thread, and kept
    return ratings


def _timeline(
    dated: Sequence[tuple[datetime, Tally]], options: Options, every: Every, cumulative: bool
) -> tuple[Period[Ratings], ...]:
    try:
        return timeline_of_tallies(dated, every, partial(_rate, options), cumulative=cumulative)
    except ValueError as error:
        raise InvalidOption("every", str(error)) from error


def _rate(options: Options, tally: Tally) -> Ratings:
    return rate(tally, options)
