"""Krippendorff's alpha of some votes, and why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.crowd.scale import Scale
from nuggetstream.crowd.votes import CrowdVote
from nuggetstream.statistics.krippendorff import alpha


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha of some votes.

    Attributes:
        value: at most 1, 0 is chance; None where there is none.
        votes: behind it.
        missing: why there is none.
    """

    value: float | None
    votes: int
    missing: str | None = None


def alpha_of(votes: Sequence[CrowdVote], scale: Scale) -> Alpha:
    """Agreement of votes, item by item."""
    missing = why_none(votes)
    if missing is not None:
        return Alpha(None, len(votes), missing)
    return Alpha(alpha(_units(votes), scale.labels, scale.level), len(votes))


def why_none(votes: Sequence[CrowdVote]) -> str | None:
    """Why some votes have no alpha; None where they have one."""
    pairable = [unit for unit in _units(votes) if len(unit) > 1]
    if not pairable:
        return "no item has two votes"
    if len({label for unit in pairable for label in unit}) < 2:
        return "one label only: nothing could have disagreed"
    return None


def _units(votes: Sequence[CrowdVote]) -> list[list[str]]:
    units: dict[str, list[str]] = {}
    for vote in votes:
        units.setdefault(vote.item, []).append(vote.label)
    return list(units.values())
