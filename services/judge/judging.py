"""How the verdicts of a judge's models, in one order or both, become one judgment.

a verdict per order and model  ->  a verdict per model; a change with the order is a tie
                               ->  the verdict of the panel, by majority or by mean probabilities
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.event import list_version_of
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.judgment import (
    Aggregation,
    Judgment,
    MemberVerdict,
    OrderedVerdict,
    combine_orders,
    mean_probabilities,
)
from nuggetstream.nuggets.scores import preference
from services.judge.abstentions import asked_of_all
from services.judge.asking import Asking, versions_of
from services.judge.evaluator import Material, Verdicts
from services.judge.options import VerdictOptions
from services.runtime.metrics import FLIPS
from services.wire.evaluators import Readable

_EQUAL = 1e-9  # difference of mean probabilities that is rounding


async def judgment_of(
    yields: Verdicts,
    event: Readable,
    material: Material,
    askings: Sequence[Asking],
    *,
    both: bool,
    awaited: bool,
) -> Judgment:
    """The verdict about one battle.

    Args:
        yields: How the judge asks.
        event: The event that it reads.
        material: What it is shown.
        askings: Its models.
        both: Whether to ask in both orders, or in one that the key of the event draws.
        awaited: Whether the battle waits for it.

    Raises:
        Permanent: No more than half of the models answered.
    """
    orders = list(Side) if both else [Random(event.key).choice(list(Side))]  # noqa: S311 - no secret

    async def verdicts_of(asking: Asking) -> tuple[OrderedVerdict, ...]:
        order = await yields.compare(asking, material)
        verdicts = []
        # One after the other: the second prompt begins like the first, which is then in the provider's cache.
        for first in orders:
            asking.first = first
            verdicts.append(await order(first))
        return tuple(verdicts)

    answers = await asked_of_all(askings, verdicts_of)
    members = [
        _member(asking, verdicts or (), reason)
        for asking, (verdicts, reason) in zip(askings, answers, strict=True)
    ]
    options = material.own(VerdictOptions)
    single = members[0] if len(members) == 1 else None
    winner, aggregation = aggregate(members, options.aggregation)
    judgment = Judgment(
        evaluator=askings[0].evaluator,
        winner=winner,
        flipped=None if single is None else single.flipped,
        verdicts=() if single is None else single.verdicts,
        model=", ".join(member.model for member in members),
        prompt_version=versions_of(askings),
        guided=bool(material.nuggets),
        additional=not awaited,
        members=() if single is not None else tuple(members),
        aggregation=None if single is not None else aggregation,
        list_version=list_version_of(event),
    )
    return _with_tie_band(judgment, options.tie_band)


def aggregate(members: Sequence[MemberVerdict], wanted: Aggregation) -> tuple[Vote, Aggregation]:
    """The panel's verdict, and how it was found.

    By majority it is the verdict of more than half of the members that gave one, else a tie. By
    probabilities it is the verdict with the highest mean probability, or a tie where the highest are equal;
    where a member that gave a verdict told no probabilities, the majority decides.

    Args:
        members: What the members said, abstentions included.
        wanted: How their verdicts become one.

    >>> said = [MemberVerdict(name, name, Vote.A, False) for name in "xy"]
    >>> silent = MemberVerdict(name="z", model="z", winner=None, flipped=None, abstention=Reason.LLM_REFUSED)
    >>> aggregate([*said, silent], Aggregation.MAJORITY)
    (<Vote.A: 'a'>, <Aggregation.MAJORITY: 'majority'>)
    """
    voted = [member for member in members if member.winner is not None]
    means = mean_probabilities([member.probabilities for member in voted])
    if wanted is Aggregation.PROBABILITIES and means is not None:
        shares = {Vote.A: means.a, Vote.B: means.b, Vote.TIE: means.tie}
        best = [vote for vote, share in shares.items() if share >= max(shares.values()) - _EQUAL]
        return best[0] if len(best) == 1 else Vote.TIE, Aggregation.PROBABILITIES
    (winner, votes), *_ = Counter(member.winner for member in voted).most_common()
    decided = winner is not None and 2 * votes > len(voted)
    return winner if decided and winner is not None else Vote.TIE, Aggregation.MAJORITY


def count_flips(judgment: Judgment) -> None:
    """Count in the metrics whether the verdict, and that of each member, changed with the order."""
    for flipped in (judgment.flipped, *(member.flipped for member in judgment.members)):
        if flipped is not None:
            FLIPS.labels(str(flipped).lower()).inc()


def _member(asking: Asking, verdicts: tuple[OrderedVerdict, ...], reason: Reason | None) -> MemberVerdict:
    """What one model says, or that it abstained."""
    winner, flipped = combine_orders(verdicts) if reason is None else (None, None)
    return MemberVerdict(
        name=asking.member.name,
        model=asking.answered if reason is None else asking.member.model.name,
        winner=winner,
        flipped=flipped,
        verdicts=verdicts,
        abstention=reason,
    )


def _with_tie_band(judgment: Judgment, band: float | None) -> Judgment:
    """The judgment with the verdict that its mean probabilities give: a tie where they differ by the band.

    It stays as it is without a band, without probabilities, and where the majority of a panel decided.
    """
    probabilities = judgment.probabilities
    if band is None or probabilities is None or judgment.aggregation is Aggregation.MAJORITY:
        return judgment
    return replace(judgment, winner=preference(probabilities.a, probabilities.b, band), tie_band=band)
