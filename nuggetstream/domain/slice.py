"""A filter of battles: the slice of an arena that a rating is computed from."""

from dataclasses import dataclass, replace
from datetime import datetime

from nuggetstream.domain.flag import Flagged
from nuggetstream.domain.lens import JUDGED, Lens


@dataclass(frozen=True, slots=True)
class Slice:
    """A filter of the battles of an arena; by default all battles.

    Attributes:
        language: Language tag, compared exactly.
        tags: Tags that a battle must all have; a query's category is a tag such as "category:science".
        since: Earliest time of receipt.
        until: Time of receipt before which a battle must have been received.
        evaluator: The judge whose verdicts count in the lenses with judges; None for those of all judges.
        expected: Whether outcomes count by their probabilities, where these are known.
        flagged: Whether battles with a flagged answer count.
    """

    language: str | None = None
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    evaluator: str | None = None
    expected: bool = False
    flagged: Flagged = Flagged.INCLUDE

    def of(self, *lenses: Lens) -> "Slice":
        """The slice as it concerns some lenses, or with no lens the battles.

        Only verdicts have a judge. Only outcomes of a single automatic lens count by their probabilities.
        """
        evaluator = None if set(JUDGED).isdisjoint(lenses) else self.evaluator
        expected = self.expected and len(lenses) == 1 and Lens.HUMAN not in lenses
        if (evaluator, expected) == (self.evaluator, self.expected):
            return self
        return replace(self, evaluator=evaluator, expected=expected)

    @property
    def discrete(self) -> "Slice":
        """The same battles, whose outcomes count as they are."""
        return replace(self, expected=False) if self.expected else self

    def having(self, flagged: Flagged) -> "Slice":
        """The slice with or without flagged battles."""
        return replace(self, flagged=flagged)


EVERYTHING = Slice()
