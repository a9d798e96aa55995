"""Boards with style held equal, over the newest battles of an arena.

    newest outcomes with both answers  ->  ratings as voted and at equal style, and the effect of style

The style of a battle never changes, so it is measured once and kept; a board is computed again when it is
asked for and older than its lifetime, and says when that was. Boards are computed one after the other, and a
bounded number of them waits.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import cast

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.slice import EVERYTHING, Slice
from nuggetstream.ratings.advice import advise
from nuggetstream.ratings.fitting.ballots import Ballot, Ballots
from nuggetstream.ratings.model import OneCluster, Ratings, rate
from nuggetstream.ratings.options import Intervals, Options
from nuggetstream.ratings.style import EqualStyle
from nuggetstream.ratings.style_effects import StyleEffect, fit_style
from nuggetstream.text.citations import citation_use
from nuggetstream.text.style import features
from nuggetstream.views.style import StyleBoardView, StyleEffectView, StyleStandingView
from services.gateway.ratings.query import StyleQuery
from services.runtime.errors import Unavailable
from services.store.outcomes.styled_outcomes import QueriedOutcome, StyledOutcomes
from services.wire.codec import decode, schema_of

MOST_OUTCOMES = 5_000
MOST_QUEUED = 8  # boards, that which is being computed included
LIFETIME = 600.0  # seconds
_BATTLES_KEPT, _BOARDS_KEPT = 100_000, 64
_RETRY_AFTER = 10.0  # seconds, in which some boards are done
_OPTIONS = Options(intervals=Intervals.SANDWICH)
Amounts = NDArray[np.float64]  # (2, 5): the features of answer A and of answer B
_Key = tuple[str, Lens, Slice]


@dataclass(slots=True)
class StyleBoards:
    """Computes these boards on demand and keeps them for a while.

    Attributes:
        outcomes: Reads outcomes and answers.
        lifetime: Seconds for which a board is kept.
        most: Boards that are computed or wait for it; more are rejected.
    """

    outcomes: StyledOutcomes
    lifetime: float = LIFETIME
    most: int = MOST_QUEUED
    _queued: int = field(default=0, init=False)
    _boards: dict[_Key, tuple[float, asyncio.Task[StyleBoardView]]] = field(default_factory=dict, init=False)
    _amounts: dict[str, Amounts] = field(default_factory=dict, init=False)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def asked(self, query: StyleQuery) -> StyleBoardView:
        """The board that a request asks for, see `of`."""
        return await self.of(query.arena, query.lens, query.selection())

    async def of(self, arena: str, lens: Lens, slice_: Slice = EVERYTHING) -> StyleBoardView:
        """The board of one lens; readers who ask at the same time wait for one computation.

        Raises:
            Unavailable: The database does not answer, or too many boards wait to be computed.
        """
        key = (arena, lens, slice_.of(lens))
        begun, task = self._boards.get(key, (0.0, None))
        failed = task is not None and task.done() and (task.cancelled() or task.exception() is not None)
        if task is None or failed or monotonic() - begun > self.lifetime:
            task = self._begun(key)
            self._boards.pop(key, None)
            self._boards[key] = (monotonic(), task)
            if len(self._boards) > _BOARDS_KEPT:
                del self._boards[next(iter(self._boards))]
        return await asyncio.shield(task)

    def _begun(self, key: _Key) -> asyncio.Task[StyleBoardView]:
        if self._queued >= self.most:
            detail = "too many boards with style control wait to be computed; ask again in a few seconds"
            raise Unavailable(Reason.DEADLINE, detail, _RETRY_AFTER)
        task = asyncio.create_task(self._computed(*key))
        self._queued += 1
        task.add_done_callback(self._done)
        return task

    def _done(self, _: asyncio.Task[StyleBoardView]) -> None:
        self._queued -= 1

    async def _computed(self, arena: str, lens: Lens, slice_: Slice) -> StyleBoardView:
        async with self._turn:  # many filters at once take no more memory than one
            queried = await self.outcomes.newest(arena, lens, MOST_OUTCOMES, slice_)
            unknown = {outcome.battle_id for outcome in queried} - self._amounts.keys()
            bodies = await self.outcomes.submissions(unknown)
            self._amounts |= await asyncio.to_thread(_measured, bodies)
            # Others were deleted meanwhile.
            styled = [outcome for outcome in queried if outcome.battle_id in self._amounts]
            amounts = [self._amounts[outcome.battle_id] for outcome in styled]
            for battle_id in list(self._amounts)[: max(len(self._amounts) - _BATTLES_KEPT, 0)]:
                del self._amounts[battle_id]
            empty = StyleBoardView(
                arena=arena,
                lens=lens,
                slice=slice_,
                outcomes=len(styled),
                most_outcomes=MOST_OUTCOMES,
                window=self.outcomes.window,
                computed_at=datetime.now(UTC),
            )
            return await asyncio.to_thread(board_of, empty, styled, amounts)


def _measured(bodies: dict[str, bytes]) -> dict[str, Amounts]:
    schema = schema_of(BattleSubmitted)
    return {
        battle_id: _style_of(cast(BattleSubmitted, decode(schema, body)))
        for battle_id, body in bodies.items()
    }


def _style_of(submitted: BattleSubmitted) -> Amounts:
    texts = [submitted.battle.answer(side).text for side in Side]
    return np.stack([features(text, citation_use(text).count) for text in texts])


def board_of(
    empty: StyleBoardView, outcomes: Sequence[QueriedOutcome], amounts: Sequence[Amounts]
) -> StyleBoardView:
    """The board from outcomes and the style of their answers.

    Args:
        empty: The board without ratings.
        outcomes: N outcomes.
        amounts: N times the features of answer A and of answer B.
    """
    if not outcomes:
        return _without(empty, "there is no outcome")
    ballots = Ballots.of(
        Ballot(outcome.system_a, outcome.system_b, outcome.winner, cluster=outcome.query)
        for outcome in outcomes
    )
    try:
        ratings = rate(ballots, _OPTIONS)
    except OneCluster:
        return _without(empty, "all outcomes are on one query, which says nothing about how queries differ")
    if ratings.fit is None or (missing := advise(ratings).missing) is not None:
        return _without(empty, "no two systems can be ranked yet" if ratings.fit is None else str(missing))
    ranked = set(ratings.strengths)
    used = [
        number for number, outcome in enumerate(outcomes) if {outcome.system_a, outcome.system_b} <= ranked
    ]
    of_a, of_b = (np.stack([amounts[number][side] for number in used]) for side in (0, 1))
    fitted = fit_style(ballots.within(ratings.fit.group), of_a, of_b, _OPTIONS)
    if isinstance(fitted, str):
        return _without(empty, fitted)
    standings, effects = (
        list(_standings(ratings, fitted.equal)),
        [_effect(outcome) for outcome in fitted.effects],
    )
    return empty.model_copy(update={"standings": standings, "effects": effects})


def _standings(ratings: Ratings, equal: EqualStyle) -> Iterator[StyleStandingView]:
    controlled = {standing.system: (rank, standing) for rank, standing in enumerate(equal.standings)}
    voted = [standing for standing in ratings.standings if standing.system in controlled]
    voted.sort(key=lambda standing: -(standing.rating or 0.0))
    for rank, standing in enumerate(voted):
        later, at_equal_style = controlled[standing.system]
        if standing.rating is not None and standing.interval_state is not None:
            yield StyleStandingView(
                system=standing.system,
                rating=standing.rating,
                low=standing.low,
                high=standing.high,
                interval_state=standing.interval_state,
                equal=at_equal_style.rating,
                equal_low=at_equal_style.low,
                equal_high=at_equal_style.high,
                equal_interval_state=at_equal_style.interval_state,
                moved=rank - later,
            )


def _effect(effect: StyleEffect) -> StyleEffectView:
    coefficient = effect.coefficient
    bounds = (
        {}
        if coefficient is None
        else {"value": coefficient.value, "low": coefficient.low, "high": coefficient.high}
    )
    return StyleEffectView.model_validate({"feature": effect.feature, "differs": effect.differs} | bounds)


def _without(empty: StyleBoardView, why: str) -> StyleBoardView:
    return empty.model_copy(update={"note": why})
