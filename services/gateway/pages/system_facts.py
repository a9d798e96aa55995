"""What a system states and misses, over some of its battles.

battles with their nuggets  ->  labels and causes of misses counted, the facts that it missed or alone states
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Importance, Support
from nuggetstream.views.battles import BattleView, LabelView, NuggetView


@dataclass(frozen=True, slots=True)
class Fact:
    """A nugget of a battle.

    Attributes:
        text: The nugget.
        number: Its number on the page of the battle.
        battle: The battle.
        label: Label of the system's answer.
    """

    text: str
    number: int
    battle: BattleView
    label: LabelView


@dataclass(slots=True)
class SystemFacts:
    """The facts of one system.

    Attributes:
        battles: Battles of the system with labels.
        labels: Number of vital nuggets per label, such as "support".
        causes: Number of missed nuggets, vital or not, per cause; those without a known cause are left out.
        missed: Vital nuggets that it missed, newest first.
        alone: Vital nuggets that it states and the other answer misses, newest first.
    """

    battles: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    missed: list[Fact] = field(default_factory=list)
    alone: list[Fact] = field(default_factory=list)


def facts_of(views: Iterable[BattleView], system: str) -> SystemFacts:
    """The facts of one system; battles of a system against itself do not count.

    Args:
        views: Battles of the system, newest first.
        system: Its name.
    """
    facts = SystemFacts()
    for view in views:
        if view.a.system == view.b.system:
            continue
        side = Side.A if view.a.system == system else Side.B
        labelled = [one for one in enumerate(view.nuggets, start=1) if one[1].label(side) is not None]
        facts.battles += bool(labelled)
        for number, nugget in labelled:
            _count(facts, view, number, nugget, side)
    return facts


def _count(facts: SystemFacts, view: BattleView, number: int, nugget: NuggetView, side: Side) -> None:
    label, other = nugget.label(side), nugget.label(Side.B if side is Side.A else Side.A)
    if label is None:
        return
    if label.cause is not None:
        facts.causes[label.cause.value] += 1
    if nugget.importance is not Importance.VITAL or nugget.is_unconfirmed:
        return
    facts.labels[label.support.value] += 1
    fact = Fact(nugget.text, number, view, label)
    if label.support is Support.NOT_SUPPORT:
        facts.missed.append(fact)
    elif label.support is Support.SUPPORT and other is not None and other.support is Support.NOT_SUPPORT:
        facts.alone.append(fact)
