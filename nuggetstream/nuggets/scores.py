"""Nugget scores: how many of the facts that a good answer needs does an answer state?

Source: Pradeep et al., "The Great Nugget Recall", 2025 (arXiv:2504.15068), and Sharifymoghaddam et
al., "Search Arena Meets Nuggets", 2025 (arXiv:2504.20006).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from nuggetstream.domain.battle import Battle, Side, Vote
from nuggetstream.domain.nugget import Assignment, Importance, Nugget, Support

# A contradiction has no credit, as no support has: the published scores know no label below it.
CREDIT = dict.fromkeys(Support, 0.0) | {Support.SUPPORT: 1.0, Support.PARTIAL_SUPPORT: 0.5}
STRICT_CREDIT = dict.fromkeys(Support, 0.0) | {Support.SUPPORT: 1.0}
OKAY_WEIGHT = 0.5
# Largest difference of scores that counts as a tie, as published in Search Arena Meets Nuggets.
TIE_THRESHOLD_WITH_URLS = 0.07
TIE_THRESHOLD_WITHOUT_URLS = 0.10
# A difference within this distance of the threshold counts as equal to it, so that rounding in the
# division of scores does not decide whether a battle is a tie.
_EPSILON = 1e-9


class Unscorable(ValueError):
    """A score is undefined: there are no nuggets, or a label is missing. It is never counted as zero."""


@dataclass(frozen=True, slots=True)
class NuggetScores:
    """The six scores of one answer, each in [0, 1], higher is better.

    `all_score` is the default. Without a vital nugget the vital scores are undefined (None), not 0.
    """

    strict_vital: float | None
    strict_all: float
    vital: float | None
    all_score: float
    weighted: float
    strict_weighted: float


def score_answer(nuggets: Sequence[Nugget], labels: Mapping[str, Support]) -> NuggetScores:
    """The six nugget scores of one answer.

    With s = 1 for support, ½ for partial support (0 in the strict form), 0 otherwise, and for a
    contradiction: all = mean of s over all nuggets; vital = mean over the vital ones;
    weighted = (Σ vital s + ½ Σ okay s) / (|vital| + ½ |okay|).

    Args:
        nuggets: The nuggets of the battle, at least one.
        labels: The label of every nugget, by nugget id.

    Returns:
        Six shares in [0, 1], higher is better.

    Raises:
        Unscorable: There are no nuggets, or a nugget has no label.

    >>> vital, okay = Nugget("1", "x", Importance.VITAL), Nugget("2", "y", Importance.OKAY)
    >>> score_answer([vital, okay], {"1": Support.SUPPORT, "2": Support.PARTIAL_SUPPORT}).all_score
    0.75
    """
    require_labels(nuggets, labels)
    vital = [labels[n.id] for n in nuggets if n.importance is Importance.VITAL]
    okay = [labels[n.id] for n in nuggets if n.importance is Importance.OKAY]
    return NuggetScores(
        strict_vital=_mean(vital, STRICT_CREDIT) if vital else None,
        strict_all=_mean(vital + okay, STRICT_CREDIT),
        vital=_mean(vital, CREDIT) if vital else None,
        all_score=_mean(vital + okay, CREDIT),
        weighted=_weighted(vital, okay, CREDIT),
        strict_weighted=_weighted(vital, okay, STRICT_CREDIT),
    )


def require_labels(nuggets: Sequence[Nugget], labels: Mapping[str, Support]) -> None:
    """Check that an answer can be scored.

    Raises:
        Unscorable: There are no nuggets, or a nugget has no label.
    """
    if not nuggets:
        raise Unscorable("no nuggets")
    if missing := [nugget.id for nugget in nuggets if nugget.id not in labels]:
        raise Unscorable(f"{len(missing)} of {len(nuggets)} nuggets have no label, such as {missing[0]!r}")


def labels_of(assignments: Sequence[Assignment], side: Side) -> dict[str, Support]:
    """The labels of one side, by nugget id."""
    return {a.nugget_id: a.support for a in assignments if a.side is side}


def expected_score(nuggets: Sequence[Nugget], assignments: Sequence[Assignment], side: Side) -> float | None:
    """The All Score of one answer, expected under the probabilities of its labels instead of by the labels.

    The mean over all nuggets of P(support) + ½ P(partial support), in [0, 1]. None unless every nugget has
    probabilities: the score of an answer of which a part is unknown is unknown. A person's label is certain.

    Raises:
        Unscorable: There are no nuggets.
    """
    if not nuggets:
        raise Unscorable("no nuggets")
    shares_of = {a.nugget_id: a.shares for a in assignments if a.side is side}
    earned = 0.0
    for nugget in nuggets:
        shares = shares_of.get(nugget.id)
        if shares is None:
            return None
        earned += shares.support + CREDIT[Support.PARTIAL_SUPPORT] * shares.partial_support
    return earned / len(nuggets)


def counted(nuggets: Iterable[Nugget]) -> tuple[Nugget, ...]:
    """The nuggets that a verdict counts: all but disputed ones, which may be false; nobody earns by them.

    Nuggets of unknown grounding, such as those of files and of the papers' data, all count.
    """
    return tuple(nugget for nugget in nuggets if not nugget.is_disputed)


def scores_of(nuggets: Iterable[Nugget], assignments: Sequence[Assignment]) -> Mapping[Side, NuggetScores]:
    """The scores per side behind a verdict, on the nuggets that count.

    Raises:
        Unscorable: No nugget counts, or one that does has no label for one of the sides.
    """
    listed = counted(nuggets)
    return {side: score_answer(listed, labels_of(assignments, side)) for side in Side}


def nugget_margin(nuggets: Iterable[Nugget], assignments: Sequence[Assignment]) -> float:
    """Difference of the All Scores behind a verdict, A minus B, in [-1, 1].

    Raises:
        Unscorable: No nugget counts, or one that does has no label for one of the sides.
    """
    scores = scores_of(nuggets, assignments)
    return scores[Side.A].all_score - scores[Side.B].all_score


def tie_threshold(battle: Battle) -> float:
    """Largest difference of All Scores that counts as a tie; it is smaller for battles with sources."""
    has_urls = any(battle.answer(side).sources for side in Side)
    return TIE_THRESHOLD_WITH_URLS if has_urls else TIE_THRESHOLD_WITHOUT_URLS


def preference(score_a: float, score_b: float, threshold: float) -> Vote:
    """Which answer the scores prefer: a tie where |A - B| ≤ threshold, else the higher.

    Args:
        score_a: Score of A, such as its All Score.
        score_b: Score of B, in the same unit.
        threshold: Largest difference that counts as a tie, in the same unit, at least 0.

    Raises:
        Unscorable: A score is not finite, or the threshold is missing or negative.

    Source: Sharifymoghaddam et al., 2025.

    >>> preference(0.50, 0.43, 0.07), preference(0.50, 0.42, 0.07)
    (<Vote.TIE: 'tie'>, <Vote.A: 'a'>)
    """
    difference = score_a - score_b
    if not (isfinite(difference) and threshold >= 0):
        raise Unscorable(f"{score_a} and {score_b} cannot be compared with a threshold of {threshold}")
    if abs(difference) <= threshold + _EPSILON:
        return Vote.TIE
    return Vote.A if difference > 0 else Vote.B


def _mean(labels: Sequence[Support], credit: Mapping[Support, float]) -> float:
    return sum(credit[label] for label in labels) / len(labels)


def _weighted(vital: Sequence[Support], okay: Sequence[Support], credit: Mapping[Support, float]) -> float:
    earned = sum(credit[x] for x in vital) + OKAY_WEIGHT * sum(credit[x] for x in okay)
    return earned / (len(vital) + OKAY_WEIGHT * len(okay))
