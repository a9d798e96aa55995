"""Probabilities of an outcome in whole millionths, so that sums of them are exact on every database.

A verdict counts as its most probable outcome, or, where a board asks for it, by its probabilities: one that
is 70% A, 10% tie and 20% B then counts as 0.7 wins, 0.1 ties and 0.2 losses. The counters of pairs keep the
difference between the two ways, which is zero for outcomes without known probabilities.
"""

from dataclasses import dataclass
from typing import Self

from nuggetstream.domain.battle import Vote

UNIT = 1_000_000  # millionths in 1


@dataclass(frozen=True, slots=True)
class Probabilities:
    """How probable an outcome is; the rest is the probability of a tie.

    Attributes:
        a: Probability that A is preferred, in millionths.
        b: Probability that B is preferred, in millionths; `a` and `b` together are at most 1,000,000.
    """

    a: int
    b: int

    @classmethod
    def of(cls, a: float, b: float, tie: float) -> Self:
        """From three probabilities; what rounding makes them miss 1 by is spread over them.

        Raises:
            ValueError: One is not a number or negative, or all are zero.

        >>> Probabilities.of(0.7, 0.2, 0.1)
        Probabilities(a=700000, b=200000)
        """
        total = a + b + tie
        if not (min(a, b, tie) >= 0 and 0 < total < float("inf")):
            raise ValueError(f"{a}, {b} and {tie} are not probabilities")
        first = round(a / total * UNIT)
        return cls(first, min(round(b / total * UNIT), UNIT - first))

    def shift(self, winner: Vote) -> tuple[int, int]:
        """By how many millionths wins of A and of B differ from those of the discrete outcome.

        >>> Probabilities(700_000, 200_000).shift(Vote.A)
        (-300000, 200000)
        """
        return self.a - UNIT * (winner is Vote.A), self.b - UNIT * (winner is Vote.B)

    @property
    def lead(self) -> int:
        """Probability of A minus that of B, in millionths."""
        return self.a - self.b
