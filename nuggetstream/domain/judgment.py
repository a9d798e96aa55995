"""A pairwise verdict: which answer is better, asked in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Side, Vote


@dataclass(frozen=True, slots=True)
class OrderedVerdict:
    """What the judge said when `first` was shown first."""

    first: Side
    winner: Vote
    reasoning: str


@dataclass(frozen=True, slots=True)
class Judgment:
    """The judge's answer about one battle.

    Attributes:
        evaluator: name of the judge; one battle may have several.
        winner: the combined verdict.
        flipped: whether the verdict changed with the order; None when only one order was asked.
        verdicts: one per order asked.
        model: that judged.
        prompt_version: of the judging prompt.
    """

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: tuple[OrderedVerdict, ...]
    model: str
    prompt_version: str


def combine_orders(verdicts: Sequence[OrderedVerdict]) -> tuple[Vote, bool | None]:
    """Combine the verdicts of both orders: agreement stands, disagreement is a tie.

    Returns:
        The combined winner, and whether the verdict flipped with the order (None for one order).

    Raises:
        ValueError: without a verdict there is nothing to combine, a failed judge is not a tie; or two
            verdicts on the same order, as after a retry: keep one.

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
