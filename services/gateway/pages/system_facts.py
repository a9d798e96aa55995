"""What a system states and misses, over some of its battles.

battles with their nuggets  ->  labels and causes of misses counted, the facts that it missed or alone states
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.nugget import Support
from services.gateway.battles.labelled import Label, LabelledBattle, LabelledNugget
from services.store.battles.battles import BattleRow
from services.store.outcomes.system_shares import CATEGORY


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
    battle: BattleRow
    label: Label

    @property
    def language(self) -> str | None:
        """The declared language of the battle, or else the detected one."""
        detected = self.battle.detected
        return self.battle.language if self.battle.language or detected is None else detected.tag


@dataclass(frozen=True, slots=True)
class FactGroup:
    """A fact that a system missed in some battles.

    Attributes:
        facts: The fact in each of these battles, newest first.
    """

    facts: tuple[Fact, ...]

    @property
    def newest(self) -> Fact:
        """The fact in the newest battle."""
        return self.facts[0]

    @property
    def battles(self) -> int:
        """Number of battles in which it was missed."""
        return len({fact.battle.id for fact in self.facts})


@dataclass(slots=True)
class Topic:
    """A category of battles: vital nuggets with a label of the system's answer, and those that it misses."""

    tag: str
    labelled: int = 0
    missed: int = 0


@dataclass(slots=True)
class SystemFacts:
    """The facts of one system.

    Attributes:
        battles: Battles of the system with labels.
        labels: Number of vital nuggets per label, such as "support".
        causes: Number of missed nuggets, vital or not, per cause; those without a known cause are left out.
        missed: Vital nuggets that it missed, newest first.
        alone: Vital nuggets that it states and the other answer misses, newest first.
        topics: Per `category:` tag of the battles, the vital nuggets that it was asked for and those that it
            missed.
    """

    battles: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    missed: list[Fact] = field(default_factory=list)
    alone: list[Fact] = field(default_factory=list)
    topics: dict[str, Topic] = field(default_factory=dict)

    @property
    def typical(self) -> list[FactGroup]:
        """The missed facts, those of several battles first; battles of one query share their nuggets."""
        groups: dict[str, list[Fact]] = {}
        for fact in self.missed:
            groups.setdefault(fact.text.casefold(), []).append(fact)
        return sorted(
            (FactGroup(tuple(facts)) for facts in groups.values()), key=lambda group: -group.battles
        )

    @property
    def missed_topics(self) -> list[Topic]:
        """The categories with misses, the highest share of misses first."""
        missed = [topic for topic in self.topics.values() if topic.missed]
        return sorted(missed, key=lambda topic: (-topic.missed / topic.labelled, -topic.labelled, topic.tag))


def facts_of(battles: Iterable[LabelledBattle], system: str) -> SystemFacts:
    """The facts of one system; battles of a system against itself do not count.

    Args:
        battles: Battles of the system, newest first.
        system: Its name.
    """
    facts = SystemFacts()
    for battle in battles:
        if battle.row.system_a == battle.row.system_b:
            continue
        side = Side.A if battle.row.system_a == system else Side.B
        labelled = [nugget for nugget in battle.nuggets if side in nugget.labels]
        facts.battles += bool(labelled)
        for nugget in labelled:
            _count(facts, battle.row, nugget, side)
    return facts


def _count(facts: SystemFacts, battle: BattleRow, nugget: LabelledNugget, side: Side) -> None:
    label, other = nugget.labels[side], nugget.labels.get(side.other)
    if label.cause is not None:
        facts.causes[label.cause.value] += 1
    if not nugget.is_vital or nugget.is_unconfirmed:
        return
    facts.labels[label.support.value] += 1
    for tag in battle.tags:
        if tag.startswith(CATEGORY):
            topic = facts.topics.setdefault(tag, Topic(tag.removeprefix(CATEGORY)))
            topic.labelled += 1
            topic.missed += label.support is Support.NOT_SUPPORT
    fact = Fact(nugget.text, nugget.number, battle, label)
    if label.support is Support.NOT_SUPPORT:
        facts.missed.append(fact)
    elif label.support is Support.SUPPORT and other is not None and other.support is Support.NOT_SUPPORT:
        facts.alone.append(fact)
