"""Human and automatic votes from two files, matched by battle."""

from collections.abc import Iterable
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.votes import CastVote, VoteSource
from nuggetstream.ratings.joint import JointVotes, points_of
from nuggetstream.ratings.options import InvalidOption
from nuggetstream.ratings.ties import TiePolicy


class NothingShared(UnusableFile):
    """No battle has both a human and an automatic vote."""


@dataclass(frozen=True, slots=True)
class _Battle:
    """Mean points of the system whose name comes first in the alphabet."""

    first: str
    second: str
    points: float


def matched(human: VoteSource, automatic: VoteSource, policy: TiePolicy) -> JointVotes:
    """Join two sources of votes by battle.

    Several votes on one battle become its mean points, by their weights.

    Args:
        human: Votes on a random sample of the battles.
        automatic: Votes on all of them.
        policy: Which ties count; half a point each.

    Raises:
        UnusableFile: A battle has other systems elsewhere; the message names both lines.
        NothingShared: No battle has both votes.
        InvalidOption: A policy that models ties.
    """
    if policy.models_ties:
        raise InvalidOption(
            "policy", f"combined ratings count a tie as half or not at all, not {policy.value}"
        )
    met: dict[str, CastVote] = {}
    people, judge = (_battles(source.votes, policy, met) for source in (human, automatic))
    if not people.keys() & judge.keys():
        raise NothingShared(
            f"{human.file}: no battle here is in {automatic.file} under the same id; is --battle right?"
        )
    return JointVotes.of(
        (
            battle.first,
            battle.second,
            people[name].points if name in people else None,
            judge[name].points if name in judge else None,
            1,
        )
        for name, battle in sorted((people | judge).items())
    )


def _battles(votes: Iterable[CastVote], policy: TiePolicy, met: dict[str, CastVote]) -> dict[str, _Battle]:
    sums: dict[str, tuple[float, float]] = {}
    for vote in votes:
        assert vote.battle is not None  # noqa: S101 - the reader asks for it
        earlier = met.setdefault(vote.battle, vote)
        if {earlier.system_a, earlier.system_b} != {vote.system_a, vote.system_b}:
            raise UnusableFile(
                f"{vote.place}: battle {vote.battle!r} is {vote.system_a} against {vote.system_b} here and "
                f"{earlier.system_a} against {earlier.system_b} at {earlier.place}"
            )
        amount = vote.weight * vote.count
        points = points_of(vote.outcome, policy) if isinstance(vote.outcome, Vote) else vote.outcome
        if not amount or points is None:
            continue
        taken, total = sums.get(vote.battle, (0.0, 0.0))
        own = points if vote.system_a < vote.system_b else 1 - points
        sums[vote.battle] = taken + amount * own, total + amount
    return {name: _battle(met[name], taken / total) for name, (taken, total) in sums.items()}


def _battle(vote: CastVote, points: float) -> _Battle:
    first, second = sorted((vote.system_a, vote.system_b))
    return _Battle(first, second, min(max(points, 0.0), 1.0))
