"""Two systems beside each other: the chance that one beats the other, and what the labels of battles say.

pairs of each lens, two systems      ->  a prediction per lens
battles of both, or of each of them  ->  what each states and misses
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nuggetstream.ratings.comparison import Pairing
from nuggetstream.ratings.fitting.elo import expected
from nuggetstream.ratings.standing import IntervalState
from nuggetstream.views.comparisons import PairsView
from services.gateway.pages.system_facts import SystemFacts, facts_of
from services.gateway.ports import Gateway
from services.store.battles.battle_search import BattleFilter
from services.store.battles.battles import BattleRow

_LABELLED = 300  # battles whose labels are counted
_OTHER_SIDE = {
    IntervalState.UNBOUNDED_BELOW: IntervalState.UNBOUNDED_ABOVE,
    IntervalState.UNBOUNDED_ABOVE: IntervalState.UNBOUNDED_BELOW,
}


@dataclass(frozen=True, slots=True)
class Prediction:
    """The chance that a system beats another one; a tie is half a win.

    Attributes:
        chance: The chance, in [0, 1].
        low: Lower bound of its interval; 0 where the difference of the ratings has no lower bound.
        high: Upper bound; 1 where the difference has no upper bound.
        interval_state: What the bounds of the difference are worth.
    """

    chance: float
    low: float
    high: float
    interval_state: IntervalState


@dataclass(frozen=True, slots=True)
class Counted:
    """Battles of a page, and what their labels say.

    Attributes:
        rows: Battles of the system, or of both; none where the two never met.
        facts: What each system states and misses, in these battles or, without any, in its own.
        read: Number of battles behind the facts of each system.
        is_all: Whether `rows` are all of them.
    """

    rows: Sequence[BattleRow]
    facts: dict[str, SystemFacts]
    read: dict[str, int]
    is_all: bool


def seen_from(pair: Pairing, system: str) -> Pairing:
    """The pairing with the system as A, as far as the page shows it; unchanged where it is no part of it."""
    if pair.b != system:
        return pair
    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        wins_a=pair.wins_b,
        wins_b=pair.wins_a,
        share=_taken_from(1.0, pair.share),
        share_low=_taken_from(1.0, pair.share_high),
        share_high=_taken_from(1.0, pair.share_low),
        gap=_taken_from(0.0, pair.gap),
        gap_low=_taken_from(0.0, pair.gap_high),
        gap_high=_taken_from(0.0, pair.gap_low),
        interval_state=pair.interval_state and _OTHER_SIDE.get(pair.interval_state, pair.interval_state),
    )


def _taken_from(whole: float, value: float | None) -> float | None:
    return None if value is None else whole - value


def predictions(views: Iterable[PairsView], system: str, against: str) -> list[Prediction | None]:
    """The prediction of each lens from its ratings; None where one of the two is not rated.

    1 / (1 + 10^(-gap / 400)) with the gap of the ratings, and the same of the bounds of the gap.

    Args:
        views: The pairs of each lens.
        system: System whose chance it is.
        against: The other one.
    """
    return [_prediction(view, system, against) for view in views]


def _prediction(view: PairsView, system: str, against: str) -> Prediction | None:
    pair = next((pair for pair in view.pairs if {pair.a, pair.b} == {system, against}), None)
    if pair is None or pair.gap is None or pair.interval_state is None:
        return None
    turned = seen_from(pair, system)
    return Prediction(
        chance=_chance(turned.gap, 0.5),
        low=_chance(turned.gap_low, 0.0),
        high=_chance(turned.gap_high, 1.0),
        interval_state=turned.interval_state or pair.interval_state,
    )


def _chance(gap: float | None, otherwise: float) -> float:
    return otherwise if gap is None else float(expected(np.array(gap), np.array(0.0)))


async def counted(gateway: Gateway, arena: str, names: Sequence[str]) -> Counted:
    """The newest battles of one system or of two, and their labels.

    Where two systems never met, half as many battles of each are read instead, so the page costs the same.

    Raises:
        Unavailable: The database does not answer.
    """
    page = await gateway.searched(BattleFilter(arena=arena, systems=tuple(names)), _LABELLED)
    if page.rows or len(names) == 1:
        labelled = await gateway.labelled.of(page.rows)
        facts = {name: facts_of(labelled, name) for name in names}
        return Counted(page.rows, facts, dict.fromkeys(names, len(labelled)), page.next is None)
    facts, read = {}, {}
    for name in names:
        own = await gateway.searched(BattleFilter(arena=arena, systems=(name,)), _LABELLED // len(names))
        labelled = await gateway.labelled.of(own.rows)
        facts[name], read[name] = facts_of(labelled, name), len(labelled)
    return Counted((), facts, read, is_all=True)
