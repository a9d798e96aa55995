"""Labels that people set in place of those of the model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Support
from nuggetstream.files.evaluated import BattleRow

_LISTED = 50  # labels


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedLabel:
    """A label that a person set.

    Attributes:
        battle: The battle.
        nugget: Text of the nugget.
        system: The system whose answer it labels.
        label: The label that counts.
        model: The label of the model.
        author: Who set it.
        reason: Why; empty where the results do not tell.
    """

    battle: str
    nugget: str
    system: str
    label: Support
    model: Support
    author: str
    reason: str


@dataclass(frozen=True, slots=True)
class Corrections:
    """The labels that people set.

    Attributes:
        labels: All labels.
        by_people: Those that people set.
        battles: Battles with such a label.
        first: The first of them, in the order of the battles.
    """

    labels: int
    by_people: int
    battles: int
    first: tuple[CorrectedLabel, ...]


def corrections(battles: Sequence[BattleRow]) -> Corrections:
    """The labels of battles that people set, counted, and the first of them."""
    nuggets = [nugget for battle in battles for nugget in battle.nuggets]
    corrected = [label for battle in battles for label in _of_battle(battle)]
    return Corrections(
        labels=sum(label is not None for nugget in nuggets for label in (nugget.a, nugget.b)),
        by_people=len(corrected),
        battles=len({label.battle for label in corrected}),
        first=tuple(corrected[:_LISTED]),
    )


def _of_battle(battle: BattleRow) -> Iterator[CorrectedLabel]:
    for nugget in battle.nuggets:
        for side, label in ((Side.A, nugget.a), (Side.B, nugget.b)):
            if label is not None and label.set_by is not None:
                yield CorrectedLabel(
                    battle=battle.id,
                    nugget=nugget.text,
                    system=battle.answer(side).system,
                    label=label.support,
                    model=label.set_by.model,
                    author=label.set_by.author,
                    reason=label.set_by.reason,
                )
