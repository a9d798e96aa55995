"""Whether workers agree less when a pair is shown in the other order, or late in their session."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from nuggetstream.crowd.reliability import Alpha, alpha_of, why_no_alpha
from nuggetstream.crowd.scale import NO_PREFERENCE, LabelScale
from nuggetstream.domain.pair_label import PREFERENCES
from nuggetstream.domain.worker_label import WorkerLabel
from nuggetstream.statistics.order_effects import order_effect

Labels = Sequence[WorkerLabel]
_OTHER_SIDE = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class AlphaByGroup:
    """Agreement within two groups of labels, and within both together.

    Attributes:
        groups: "forward" and "backward", or "early" and "late" -> alpha.
        pooled: Alpha of the labels of both groups together.
        delta: Largest |pooled - group|; None where one of the three is undefined.
        missing: Why there is no delta; None where there is one.
    """

    groups: Mapping[str, Alpha]
    pooled: Alpha
    delta: float | None
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class SessionPositions:
    """Positions of items in the sessions of their workers.

    Attributes:
        first: Lowest position.
        middle: Last position of the early half.
        last: Highest position.
    """

    first: int
    middle: int
    last: int


@dataclass(frozen=True, slots=True)
class SideAgreement:
    """Agreement by the order in which the two answers of a pair were shown.

    Attributes:
        pairs: Number of pairs.
        both: Number of pairs that were shown in both orders; only their labels count.
        effect: Alpha by order; forward is the alphabetical order of the two answers.
    """

    pairs: int
    both: int
    effect: AlphaByGroup


def agreement_by_side(labels: Labels, scale: LabelScale) -> SideAgreement | None:
    """Does agreement change with the side on which an answer is shown?

    Labels of a pair shown backward are exchanged (a for b), so that all labels refer to the same order.
    Alpha of both orders together then tells whether workers prefer the same answer whichever side it is on.

    Args:
        labels: Labels of one dimension.
        scale: Their scale.

    Returns:
        None where no label has the two answers that were shown.
    """
    orders_of: dict[str, set[bool]] = {}
    for label in labels:
        if label.shown:
            orders_of.setdefault(label.shown.name, set()).add(label.shown.is_reversed)
    if not orders_of:
        return None
    in_both_orders = {pair for pair, orders in orders_of.items() if len(orders) == 2}
    groups: dict[str, list[WorkerLabel]] = {"forward": [], "backward": []}
    for label in labels:
        if label.shown and label.shown.name in in_both_orders:
            groups["backward" if label.shown.is_reversed else "forward"].append(forward(label))
    if not scale.preference:
        effect = _without_answer(groups, NO_PREFERENCE)
    elif not in_both_orders:
        effect = _without_answer(groups, "no pair was shown in both orders")
    else:
        effect = _alpha_by_group(groups, _with_both_sides(scale))
    return SideAgreement(len(orders_of), len(in_both_orders), effect)


def agreement_by_position(
    labels: Labels, scale: LabelScale, positions: SessionPositions | None
) -> AlphaByGroup | None:
    """Does agreement change along the session? None where no label has a position."""
    if positions is None:
        return None
    placed = [(label, label.position) for label in labels if label.position is not None]
    early = [label for label, position in placed if position <= positions.middle]
    late = [label for label, position in placed if position > positions.middle]
    return _alpha_by_group({"early": early, "late": late}, scale)


def session_positions(labels: Iterable[WorkerLabel]) -> SessionPositions | None:
    """The range of positions, cut in the middle between the lowest and the highest; None without any."""
    positions = [label.position for label in labels if label.position is not None]
    if not positions:
        return None
    first, last = min(positions), max(positions)
    return SessionPositions(first, (first + last) // 2, last)


def _alpha_by_group(groups: Mapping[str, Labels], scale: LabelScale) -> AlphaByGroup:
    pooled = [label for labels in groups.values() for label in labels]
    effect = order_effect(groups, pooled, lambda labels: alpha_of(labels, scale).value)
    alphas = {
        name: Alpha(effect.groups[name], len(labels), why_no_alpha(labels)) for name, labels in groups.items()
    }
    reasons = (f"{name}: {group.missing}" for name, group in alphas.items() if group.missing)
    return AlphaByGroup(
        groups=alphas,
        pooled=Alpha(effect.pooled, len(pooled), why_no_alpha(pooled)),
        delta=effect.delta,
        missing=next(reasons, None),
    )


def _without_answer(groups: Mapping[str, Labels], reason: str) -> AlphaByGroup:
    alphas = {name: Alpha(None, len(labels), reason) for name, labels in groups.items()}
    return AlphaByGroup(alphas, Alpha(None, sum(map(len, groups.values())), reason), None, reason)


def forward(label: WorkerLabel) -> WorkerLabel:
    """The label as if the pair had been shown in alphabetical order."""
    if label.shown is None:
        return label
    value = _OTHER_SIDE.get(label.label, label.label) if label.shown.is_reversed else label.label
    return replace(label, item=label.shown.name, label=value)


def _with_both_sides(scale: LabelScale) -> LabelScale:
    """The scale with both answers as labels: where only a was chosen, an exchanged label is b."""
    labels = {*scale.labels, *_OTHER_SIDE}
    return replace(scale, labels=tuple(label for label in PREFERENCES if label in labels))
