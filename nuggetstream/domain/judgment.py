"""A judge's pairwise verdict: which of two answers is better, asked with the answers in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side, Vote


@dataclass(frozen=True, slots=True)
class VoteProbabilities:
    """How probable each verdict is according to the judge; together 1."""

    a: float
    b: float
    tie: float


@dataclass(frozen=True, slots=True)
class OrderedVerdict:
    """The judge's verdict when the answer of side `first` was shown first.

    Attributes:
        first: Side that was shown first.
        winner: The verdict.
        reasoning: The judge's reasons; None when it was not asked for any.
        probabilities: Of the verdicts; None when the judge did not tell.
    """

    first: Side
    winner: Vote
    reasoning: str | None
    probabilities: VoteProbabilities | None = None


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judge's verdict about one battle.

    Attributes:
        evaluator: Name of the judge; a battle may have several judges.
        winner: Combined verdict of all orders asked.
        flipped: Whether the verdict changed with the order; None when only one order was asked.
        verdicts: One verdict per order asked.
        model: Chat model that judged.
        prompt_version: Version of the judging prompt.
    """

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: tuple[OrderedVerdict, ...]
    model: str
    prompt_version: str

    @property
    def probabilities(self) -> VoteProbabilities | None:
        """Mean over the orders asked, so that a preference for a position cancels out; None when unknown."""
        known = [verdict.probabilities for verdict in self.verdicts if verdict.probabilities is not None]
        if not known or len(known) < len(self.verdicts):
            return None
        return VoteProbabilities(
            a=sum(each.a for each in known) / len(known),
            b=sum(each.b for each in known) / len(known),
            tie=sum(each.tie for each in known) / len(known),
        )


def combine_orders(verdicts: Sequence[OrderedVerdict]) -> tuple[Vote, bool | None]:
    """Combine the verdicts of both orders: the winner when they agree, a tie when they disagree.

    Returns:
        The combined winner, and whether the verdict flipped with the order (None for one order).

    Raises:
        ValueError: There is no verdict to combine (a failed judge is not a tie), or two verdicts have the
            same order, as after a retry (pass only one of them).

    >>> a_first = OrderedVerdict(Side.A, Vote.A, "")
    >>> b_first = OrderedVerdict(Side.B, Vote.B, "")
    >>> combine_orders([a_first, b_first])
    (<Vote.TIE: 'tie'>, True)
    """
    if not verdicts:
        raise ValueError("no verdict to combine")
    if len({verdict.first for verdict in verdicts}) < len(verdicts):
        raise ValueError("two verdicts on the same order do not say whether order matters")
    winners = {verdict.winner for verdict in verdicts}
    if len(verdicts) == 1:
        return verdicts[0].winner, None
    if len(winners) == 1:
        return verdicts[0].winner, False
    return Vote.TIE, True
