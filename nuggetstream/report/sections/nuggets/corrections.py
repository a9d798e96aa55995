"""Labels that people set in place of those of the model."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Support
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.numerals import integer, many
from nuggetstream.report.blocks import BattleLink, Table
from nuggetstream.report.wording import opening

_LISTED = 50  # labels

WORDS = {
    Support.SUPPORT: "stated",
    Support.PARTIAL_SUPPORT: "stated in part",
    Support.NOT_SUPPORT: "missed",
    Support.CONTRADICTION: "contradicted",
}


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


def corrections(battles: Iterable[BattleRow]) -> Corrections:
    """The labels of battles that people set, counted, and the first of them."""
    labels = by_people = corrected = 0
    first: list[CorrectedLabel] = []
    for battle in battles:
        own = list(_of_battle(battle))
        labels += sum(label is not None for nugget in battle.nuggets for label in (nugget.a, nugget.b))
        by_people += len(own)
        corrected += bool(own)
        first += own[: _LISTED - len(first)]
    return Corrections(labels, by_people, corrected, tuple(first))


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


def corrections_note(found: Corrections) -> str:
    """How many labels people set, as a sentence; empty where the model set all."""
    if not found.by_people:
        return ""
    verb = "was" if found.by_people == 1 else "were"
    return (
        f"{integer(found.by_people)} of {many(found.labels, 'label')} {verb} set by people, in "
        f"{many(found.battles, 'battle')}; they count in place of those of the model."
    )


def corrections_table(labels: Sequence[CorrectedLabel], total: int) -> Table:
    """The labels that people set, with those of the model."""
    rows = [
        (
            BattleLink(each.battle, opening(each.nugget)),
            each.battle,
            each.system,
            WORDS[each.model],
            WORDS[each.label],
            each.author,
            each.reason or "not told",
        )
        for each in labels
    ]
    return Table(
        caption="Labels set by people",
        columns=("nugget", "battle", "system", "the model said", "label", "set by", "reason"),
        rows=rows,
        note=None if len(rows) == total else f"The first {len(rows)} of {integer(total)}.",
        text_columns=(1, 2, 3, 4, 5, 6),
        folded=True,
    )
