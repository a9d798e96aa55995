"""Pairs whose two answers people can tell apart, and agreement on them and on the other pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.crowd.differentiability import split_by_differentiability
from nuggetstream.crowd.dimension import ALPHA_KINDS, DimensionStudy, of_kept_workers, within_limit
from nuggetstream.crowd.reliability import alpha_of, mean
from nuggetstream.crowd.scale import NO_PREFERENCE
from nuggetstream.domain.pair_label import PREFERENCES


@dataclass(frozen=True, slots=True)
class PairGroup:
    """Pairs of one kind.

    Attributes:
        items: Names of the pairs.
        mean_alpha: Kind of alpha -> mean over all dimensions; None where a dimension's alpha is undefined.
    """

    items: tuple[str, ...]
    mean_alpha: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class PairSplit:
    """Pairs whose answers people can tell apart, and the other pairs.

    Attributes:
        differentiable: Pairs that people can tell apart.
        minimal: The other pairs.
        left_out: Number of items with votes in too few dimensions.
        missing: Why there is no split; None where there is one.
    """

    differentiable: PairGroup | None = None
    minimal: PairGroup | None = None
    left_out: int = 0
    missing: str | None = None


def split_pairs(
    dimensions: Sequence[DimensionStudy], *, needed: int, decided: int, limit: float
) -> PairSplit:
    """Split pairs by whether people can tell their two answers apart.

    Args:
        dimensions: The dimensions studied.
        needed: Number of votes for one label that decide a dimension.
        decided: Number of decided dimensions that make a pair differentiable.
        limit: Largest known spam probability of a vote that is kept.
    """
    if not all(dimension.scale.preference for dimension in dimensions):
        return PairSplit(missing=NO_PREFERENCE)
    if len(dimensions) < decided:
        return PairSplit(missing=f"{len(dimensions)} of the {decided} dimensions that must be decided")
    by_item: dict[str, dict[str, list[str]]] = {}
    for dimension in dimensions:
        for vote in dimension.votes:
            by_item.setdefault(vote.item, {}).setdefault(dimension.name, []).append(vote.label)
    complete = {
        item: {name: [PREFERENCES[label] for label in labels] for name, labels in votes.items()}
        for item, votes in by_item.items()
        if len(votes) >= decided
    }
    if not complete:
        missing = f"no item has votes in {decided} dimensions"
        return PairSplit(left_out=len(by_item), missing=missing)
    split = split_by_differentiability(complete, needed=needed, dimensions=decided)
    return PairSplit(
        differentiable=_pair_group(split.differentiable, dimensions, limit),
        minimal=_pair_group(split.minimally_differentiable, dimensions, limit),
        left_out=len(by_item) - len(complete),
    )


def _pair_group(items: tuple[str, ...], dimensions: Sequence[DimensionStudy], limit: float) -> PairGroup:
    chosen = frozenset(items)
    alphas: dict[str, dict[str, float | None]] = {kind: {} for kind in ALPHA_KINDS}
    for dimension in dimensions:
        votes = [vote for vote in dimension.votes if vote.item in chosen]
        votes_of_kind = {
            "agreement": votes,
            "without_spam": of_kept_workers(votes, dimension.learned) if dimension.without_spam else [],
            "by_file": within_limit(votes, limit) if dimension.by_file else [],
        }
        for kind, kept in votes_of_kind.items():
            alphas[kind][dimension.name] = alpha_of(kept, dimension.scale).value
    return PairGroup(items, {kind: mean(values) for kind, values in alphas.items()})
