"""Which item a worker of a study is given next, and in which order its answers are shown.

training, then pairs of every length in turn with gold items between them
a pair that too few workers judge  ->  the one that the boards need most
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

STRATA = 3
"""Groups of pairs by length, of equal size."""


class ItemKind(StrEnum):
    """What an item is for."""

    PAIR = "pair"
    TRAINING = "training"
    GOLD = "gold"


@dataclass(frozen=True, slots=True)
class OpenItem:
    """An item of a study that a worker could be given.

    Attributes:
        number: Its number in the study.
        kind: What it is for.
        system_a: System of answer A.
        system_b: System of answer B.
        stratum: Group by length, 0 for the shortest.
        taken: Workers who judged it or are about to.
    """

    number: int
    kind: ItemKind
    system_a: str
    system_b: str
    stratum: int = 0
    taken: int = 0

    @property
    def systems(self) -> tuple[str, str]:
        """Both systems in the order of the alphabet."""
        return min(self.system_a, self.system_b), max(self.system_a, self.system_b)


@dataclass(frozen=True, slots=True)
class Session:
    """What a worker has answered, and is to answer.

    Attributes:
        answered: Items that the worker answered.
        training: Number of items to practise on.
        gold: Number of items to check the worker.
        pairs: Number of pairs.
    """

    answered: Sequence[OpenItem]
    training: int
    gold: int
    pairs: int

    @property
    def length(self) -> int:
        """Number of items from beginning to end."""
        return self.training + self.gold + self.pairs

    @property
    def next_kind(self) -> ItemKind | None:
        """Kind of the next item; None at the end."""
        count = Counter(item.kind for item in self.answered)
        if count[ItemKind.TRAINING] < self.training:
            return ItemKind.TRAINING
        due = count[ItemKind.PAIR] * (self.gold + 1) >= (count[ItemKind.GOLD] + 1) * self.pairs
        if count[ItemKind.GOLD] < self.gold and due:
            return ItemKind.GOLD
        return ItemKind.PAIR if count[ItemKind.PAIR] < self.pairs else None


def strata(lengths: Sequence[int]) -> list[int]:
    """The group of each pair by its length: as many short as medium and long ones.

    Args:
        lengths: Characters of both answers, per pair.

    >>> strata([900, 10, 20, 500, 30, 700])
    [2, 0, 0, 1, 1, 2]
    """
    order = sorted(range(len(lengths)), key=lambda index: (lengths[index], index))
    groups = [0] * len(lengths)
    for rank, index in enumerate(order):
        groups[index] = rank * STRATA // len(lengths)
    return groups


def next_item(
    session: Session,
    candidates: Collection[OpenItem],
    worth: Mapping[tuple[str, str], float],
    workers_per_pair: int,
) -> OpenItem | None:
    """The item that a worker is given next.

    Of the pairs that too few workers judge, those count whose length the worker has met least. Of these the
    systems decide of which the boards need a label most, and then the pair that most workers judged already.

    Args:
        session: What the worker has answered.
        candidates: Items that the worker has not met.
        worth: Two systems in the order of the alphabet -> how much their label is needed; 0 where absent.
        workers_per_pair: Workers who judge the same pair.

    Returns:
        The item; None where the session ends, or nothing is left to judge.
    """
    kind = session.next_kind
    if kind is None:
        return None
    able = [item for item in candidates if item.kind is kind]
    if kind is not ItemKind.PAIR:
        return min(able, key=lambda item: item.number, default=None)
    met = Counter(item.stratum for item in session.answered if item.kind is kind)
    return min(
        (item for item in able if item.taken < workers_per_pair),
        key=lambda item: (met[item.stratum], -worth.get(item.systems, 0.0), -item.taken, item.number),
        default=None,
    )


def is_reversed(number: int, taken: int, share: float) -> bool:
    """Whether an item shows answer B first, so that a share of all workers sees it so.

    Args:
        number: Number of the item in its study.
        taken: Workers who were given it before.
        share: Share of reversed items, from 0 to 1.

    >>> [is_reversed(0, taken, 1 / 3) for taken in range(6)]
    [False, False, True, False, False, True]
    """
    position = number + taken
    return int((position + 1) * share + 1e-9) > int(position * share + 1e-9)
