"""A judge's pairwise verdict: which of two answers is better, asked with the answers in both orders."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.lens import Lens


class Aggregation(StrEnum):
    """How the verdicts of a panel's members become one."""

    MAJORITY = "majority"
    PROBABILITIES = "probabilities"


@dataclass(frozen=True, slots=True)
class VoteProbabilities:
    """How probable each verdict is according to the judge; together 1."""

    a: float
    b: float
    tie: float


@dataclass(frozen=True, slots=True)
class DimensionVerdict:
    """The better answer in one dimension, such as "coverage_deep"."""

    dimension: str
    winner: Vote


@dataclass(frozen=True, slots=True)
class OrderedVerdict:
    """The judge's verdict when the answer of side `first` was shown first.

    Attributes:
        first: Side that was shown first.
        winner: The verdict.
        reasoning: The judge's reasons; None when it was not asked for any.
        probabilities: Of the verdicts; None when the judge did not tell.
        dimensions: The better answer in each dimension; empty for a judge that knows none.
    """

    first: Side
    winner: Vote
    reasoning: str | None
    probabilities: VoteProbabilities | None = None
    dimensions: tuple[DimensionVerdict, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberVerdict:
    """What one member of a panel said, or why it said nothing.

    Attributes:
        name: Name of the member in the panel.
        model: Chat model that answered, or that was asked in vain.
        winner: Its combined verdict; None for an abstention, which is no tie.
        flipped: Whether its verdict changed with the order; None for an abstention or one order.
        verdicts: One verdict per order asked; empty for an abstention.
        abstention: Why there is no verdict; None where there is one.
    """

    name: str
    model: str
    winner: Vote | None
    flipped: bool | None
    verdicts: tuple[OrderedVerdict, ...] = ()
    abstention: Reason | None = None

    @property
    def probabilities(self) -> VoteProbabilities | None:
        """Mean over the orders asked; None when unknown."""
        return mean_probabilities([verdict.probabilities for verdict in self.verdicts])


@dataclass(frozen=True, slots=True)
class Judgment:
    """One judge's verdict about one battle.

    Attributes:
        evaluator: Name of the judge; a battle may have several judges.
        winner: Combined verdict of all orders asked; of a panel, of all members.
        flipped: Whether the verdict changed with the order; None when only one order was asked, and for a
            panel.
        verdicts: One verdict per order asked; empty for a panel.
        model: Chat model that judged; the models of a panel, separated by commas.
        prompt_version: Version of the judging prompt.
        guided: Whether the judge was shown the nuggets and their labels. Its verdicts have a lens of their
            own.
        additional: Whether the judge runs beside those that battles wait for.
        members: What each member of a panel said; empty for a single judge.
        aggregation: How the members' verdicts became one; None for a single judge.
        tie_band: Largest difference of the probabilities of A and B that made the verdict a tie; None where
            the verdict does not follow from probabilities.
        list_version: Version of the nugget list that the judge was shown; None where it was shown none.
    """

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: tuple[OrderedVerdict, ...]
    model: str
    prompt_version: str
    guided: bool = False
    additional: bool = False
    members: tuple[MemberVerdict, ...] = ()
    aggregation: Aggregation | None = None
    tie_band: float | None = None
    list_version: int | None = None

    @property
    def lens(self) -> Lens:
        """The lens that its outcome counts in."""
        return Lens.GUIDED if self.guided else Lens.JUDGE

    @property
    def probabilities(self) -> VoteProbabilities | None:
        """Mean over the orders asked, so that a preference for a position cancels out; None when unknown.

        Of a panel it is the mean over the members that gave a verdict.
        """
        if self.members:
            voted = [member for member in self.members if member.winner is not None]
            return mean_probabilities([member.probabilities for member in voted])
        return mean_probabilities([verdict.probabilities for verdict in self.verdicts])

    @property
    def abstentions(self) -> int:
        """Number of members without a verdict."""
        return sum(member.winner is None for member in self.members)

    @property
    def dimensions(self) -> tuple[DimensionVerdict, ...]:
        """The better answer in each dimension over all orders asked: a tie where the orders disagree."""
        asked = [{part.dimension: part.winner for part in verdict.dimensions} for verdict in self.verdicts]
        if not asked or not all(asked):
            return ()
        return tuple(
            DimensionVerdict(name, winner if all(one.get(name) is winner for one in asked) else Vote.TIE)
            for name, winner in asked[0].items()
        )


def mean_probabilities(stated: Sequence[VoteProbabilities | None]) -> VoteProbabilities | None:
    """The mean; None where one of them is unknown, or there are none."""
    probabilities = [shares for shares in stated if shares is not None]
    if not probabilities or len(probabilities) < len(stated):
        return None
    return VoteProbabilities(
        a=sum(shares.a for shares in probabilities) / len(probabilities),
        b=sum(shares.b for shares in probabilities) / len(probabilities),
        tie=sum(shares.tie for shares in probabilities) / len(probabilities),
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
