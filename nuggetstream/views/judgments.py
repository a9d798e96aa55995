"""Verdicts of judges and panels as JSON."""

from pydantic import Field

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.judgment import Aggregation, DimensionVerdict, OrderedVerdict, VoteProbabilities
from nuggetstream.views.common import View


class MemberVerdictView(View):
    """The verdict of one member of a panel. An abstention has no winner and is no tie."""

    name: str
    model: str
    winner: Vote | None
    flipped: bool | None
    verdicts: list[OrderedVerdict]
    abstention: Reason | None = None
    """Why there is no verdict; null where there is one."""
    probabilities: VoteProbabilities | None = None
    """Mean over the orders; null where the member did not tell."""


class JudgmentView(View):
    """The verdict of one judge. `flipped` is null for a panel, and when only one order was asked."""

    evaluator: str
    winner: Vote
    flipped: bool | None
    verdicts: list[OrderedVerdict]
    """One per order; empty for a panel."""
    model: str
    probabilities: VoteProbabilities | None = None
    """Mean over the orders, and over the members of a panel; null where the judge did not tell."""
    dimensions: list[DimensionVerdict] = Field(default_factory=list)
    """The better answer in each dimension over all orders; empty for a judge that knows none."""
    members: list[MemberVerdictView] = Field(default_factory=list)
    """What each member of a panel said; empty for a single judge."""
    aggregation: Aggregation | None = None
    """How the members' verdicts became one; null for a single judge."""
    abstentions: int = 0
    """Number of members without a verdict."""
    tie_band: float | None = None
    """Largest difference of the probabilities of A and B that made the verdict a tie; null where the verdict
    does not follow from probabilities."""
    additional: bool = False
    """Whether the judge runs beside those that battles wait for."""
    nugget_version: int | None = None
    """Version of the nugget list that the judge was shown; null where it was shown none."""
