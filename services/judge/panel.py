"""The models of a panel, and how their verdicts become one.

    a verdict or an abstention per member  ->  the panel's verdict

An abstention (the model declined, its reply could not be used, the budget is used up) is counted and is
never a tie. A panel of which no more than half of the members gave a verdict has none. For panels of
evaluators that grade, see `grade_panel`.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.judgment import Aggregation, MemberVerdict, mean_probabilities
from services.runtime.errors import Permanent
from services.runtime.llm.model import ChatModel, DecisionModel

T = TypeVar("T")

# What makes one member abstain. Other errors, such as a model that is away, concern the whole battle.
ABSTENTIONS = frozenset(
    {Reason.LLM_REFUSED, Reason.CONTENT_FILTERED, Reason.REPLY_UNUSABLE, Reason.BUDGET_EXCEEDED}
)

_EQUAL = 1e-9  # difference of mean probabilities that is rounding


@dataclass(frozen=True, slots=True)
class Voter:
    """A model that judges or grades: the only one, or a member of a panel.

    Attributes:
        name: Its name in the panel.
        model: Chat model.
        decisions: Model that is asked for decisions where the question is one; None in profiles without.
    """

    name: str
    model: ChatModel
    decisions: DecisionModel | None = None


async def all_of(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of calls that run at the same time, once all have ended; the first error is raised."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def require_answers(abstentions: Sequence[Reason | None]) -> None:
    """Check that more than half of the members answered.

    Args:
        abstentions: Why each member abstained; None for one that answered.

    Raises:
        Permanent: They did not; the reason is the most frequent one, of several that of the first member.
    """
    reasons = [reason for reason in abstentions if reason is not None]
    if 2 * len(reasons) >= len(abstentions):
        [(reason, _)] = Counter(reasons).most_common(1)
        raise Permanent(reason, f"{len(reasons)} of {len(abstentions)} members of the panel abstained")


def aggregate(members: Sequence[MemberVerdict], wanted: Aggregation) -> tuple[Vote, Aggregation]:
    """The panel's verdict, and how it was found.

    By majority it is the verdict of more than half of the members that gave one, else a tie. By
    probabilities it is the verdict with the highest mean probability, or a tie where the highest are equal;
    where a member that gave a verdict told no probabilities, the majority decides.

    Args:
        members: What the members said, abstentions included.
        wanted: How their verdicts become one.

    Raises:
        Permanent: No more than half of the members gave a verdict; the reason is the most frequent one.

    >>> said = [MemberVerdict(name, name, Vote.A, False) for name in "xy"]
    >>> silent = MemberVerdict(name="z", model="z", winner=None, flipped=None, abstention=Reason.LLM_REFUSED)
    >>> aggregate([*said, silent], Aggregation.MAJORITY)
    (<Vote.A: 'a'>, <Aggregation.MAJORITY: 'majority'>)
    """
    require_answers([member.abstention for member in members])
    voted = [member for member in members if member.winner is not None]
    means = mean_probabilities([member.probabilities for member in voted])
    if wanted is Aggregation.PROBABILITIES and means is not None:
        shares = {Vote.A: means.a, Vote.B: means.b, Vote.TIE: means.tie}
        best = [vote for vote, share in shares.items() if share >= max(shares.values()) - _EQUAL]
        return best[0] if len(best) == 1 else Vote.TIE, Aggregation.PROBABILITIES
    (winner, votes), *_ = Counter(member.winner for member in voted).most_common()
    decided = winner is not None and 2 * votes > len(voted)
    return winner if decided and winner is not None else Vote.TIE, Aggregation.MAJORITY
