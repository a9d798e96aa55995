"""What judges of every kind share: the orders they ask in, what they show, and what they cannot judge."""

from random import Random

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.judgment import Judgment
from nuggetstream.nuggets.excerpts import excerpts
from services.runtime.metrics import FLIPS


def orders_of(key: str, *, both: bool) -> list[Side]:
    """The sides that are shown first, one per order: both, or one drawn by the key of the event.

    They are asked for one after the other: the second prompt begins like the first, which is then in the
    provider's cache.
    """
    return list(Side) if both else [Random(key).choice(list(Side))]  # noqa: S311 - an order, not a secret


def shown_evidence(event: BattleRetrieved, passages: int, characters: int | None) -> tuple[Evidence, ...]:
    """The evidence that a judge sees.

    Args:
        event: The battle with its evidence.
        passages: Maximum number of chunks.
        characters: Maximum number of their characters, see `excerpts`; None shows all.
    """
    shown = event.evidence[:passages]
    return shown if characters is None else tuple(excerpts(shown, event.battle, characters))


def has_an_answer(battle: Battle) -> bool:
    """Whether at least one answer says something."""
    return any(battle.answer(side).text.strip() for side in Side)


def count_flips(judgment: Judgment) -> None:
    """Count in the metrics whether the verdict, and that of each member, changed with the order."""
    for flipped in (judgment.flipped, *(member.flipped for member in judgment.members)):
        if flipped is not None:
            FLIPS.labels(str(flipped).lower()).inc()
