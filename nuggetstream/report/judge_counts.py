"""What the summary of an evaluation counts for each judge."""

from collections import Counter
from dataclasses import dataclass, field

from nuggetstream.files.evaluated import BattleRow


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """One judge.

    Attributes:
        evaluator: Name of the judge.
        judged: Battles with its verdict.
        flips: Verdicts that changed with the order, of `asked_twice`.
    """

    evaluator: str
    judged: int
    flips: int
    asked_twice: int


@dataclass(slots=True)
class JudgeCounts:
    """What is counted for each judge."""

    additional: set[str] = field(default_factory=set)
    judged: Counter[str] = field(default_factory=Counter)
    flips: Counter[str] = field(default_factory=Counter)
    asked_twice: Counter[str] = field(default_factory=Counter)

    def add(self, battle: BattleRow) -> None:
        """Count the verdicts about a battle."""
        for judgment in battle.judgments:
            name = judgment.evaluator
            self.judged[name] += 1
            self.flips[name] += judgment.flipped is True
            self.asked_twice[name] += judgment.flipped is not None
            if judgment.additional:
                self.additional.add(name)

    @property
    def names(self) -> list[str]:
        """All judges, by name; additional ones come last."""
        return sorted(self.judged, key=lambda name: (name in self.additional, name))

    def rows(self) -> tuple[JudgeRow, ...]:
        """A row per judge."""
        return tuple(
            JudgeRow(name, self.judged[name], self.flips[name], self.asked_twice[name]) for name in self.names
        )
