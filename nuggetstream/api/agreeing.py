"""How far two sequences of labels agree, and several raters."""

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from nuggetstream.api.sources import in_python, is_missing
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.spellings import spelt_vote
from nuggetstream.ratings.options import SEED
from nuggetstream.rubric.label_agreement import LabelAgreement, LabelSet, label_agreement

_LETTERS = ("c", "C")  # a tie in the verdicts of judges, but a grade like A and B elsewhere
_OUTCOMES = (Vote.A.value, Vote.TIE.value, Vote.B.value)


@in_python
def agreement(
    first: Iterable[Any],
    second: Iterable[Any],
    *,
    order: Sequence[object] = (),
    clusters: Sequence[Hashable] | None = None,
) -> LabelAgreement:
    """Cohen's kappa of two sources of labels, with the counts behind it.

    κ = 1 - Σ w O / Σ w E, with O the observed and E the expected counts, and w = 1 where the labels differ
    (unweighted), |x - y| (linear) or (x - y)² (quadratic) for labels x and y on their scale.

    Args:
        first: Labels, one per item: outcomes of battles in their usual spellings (then "both bad" counts as a
            tie), or any other labels. None and NaN are missing, and 2.0 is the label 2.
        second: Labels of the same items, in the same order.
        order: Every label in ascending order. Without it, outcomes are ordered a, tie, b, and numbers lie on
            their own scale; other labels have no order, and so no weighted kappa.
        clusters: What each item belongs to, such as its query: items of one cluster are drawn together in the
            intervals. Every item stands alone when None.

    Returns:
        Kappas in [-1, 1], higher is better, 0 is chance; `intervals` has their bounds. Items without both
        labels are left out and counted.

    Raises:
        ValueError: The sources or the clusters have different lengths.
        NothingLabelledTwice: No item has both labels.
        UnknownLabel: A label is not in `order`.

    Source: Cohen, 1960 and 1968.

    >>> result = agreement(["a", "b", "tie", "a", None], ["model_a", "b", "b", "tie", "a"])
    >>> result.pairs, result.observed, round(result.quadratic, 2), len(result.only_second)
    (4, 0.5, 0.69, 1)
    """
    ours, theirs = [list(map(_label, given)) for given in (first, second)]
    if len(ours) != len(theirs):
        raise ValueError(f"the first source has {len(ours)} labels and the second {len(theirs)}")
    if clusters is not None and len(clusters) != len(ours):
        raise ValueError(f"there are {len(clusters)} clusters for {len(ours)} items")
    ascending = [shortest_form(str(label)) for label in order]
    outcomes = [[None if label is None else _outcome(label) for label in given] for given in (ours, theirs)]
    both_are_outcomes = all(
        outcome is not None or label is None
        for labelled, spelt in zip((ours, theirs), outcomes, strict=True)
        for label, outcome in zip(labelled, spelt, strict=True)
    )
    if both_are_outcomes and not ascending:
        (ours, theirs), ascending = outcomes, list(_OUTCOMES)
    of_item = None if clusters is None else {f"{index}": cluster for index, cluster in enumerate(clusters)}
    return label_agreement(
        _label_set(ours, "the first"), _label_set(theirs, "the second"), ascending, of_item
    )


@in_python
def krippendorff(
    ratings: ArrayLike, level: str = "ordinal", *, domain: Sequence[Hashable] | None = None
) -> float | None:
    """Krippendorff's alpha: do several raters agree beyond chance, whoever rated what?

    α = 1 - D_observed / D_expected.

    Args:
        ratings: (raters, items) numbers or texts, one row per rater, as nested lists, an array or a frame.
            None and NaN mean that the rater did not rate the item.
        level: "nominal", "ordinal", "interval" or "ratio".
        domain: Every possible value in ascending order; None takes the values that occur. Texts have no order
            without it.

    Returns:
        At most 1, higher is better, 0 is chance; None where nothing could have disagreed.

    Raises:
        ValueError: The ratings form no table, or the level does not fit the values.

    Source: Krippendorff, "Content Analysis", 2004.

    >>> round(krippendorff([[1, 2, 3, None], [1, 2, 2, 3]]), 3)
    0.778
    """
    from nuggetstream.statistics.krippendorff import alpha_of_ratings  # with the extra analysis

    return alpha_of_ratings(ratings, level, domain)


@in_python
def krippendorff_interval(
    ratings: ArrayLike,
    level: str = "ordinal",
    *,
    domain: Sequence[Hashable] | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    seed: int = SEED,
) -> tuple[float, float] | None:
    """Interval of Krippendorff's alpha, drawing items, or whole clusters of them, again.

    Args:
        ratings: (raters, items) as `krippendorff` takes them.
        level: "nominal", "ordinal", "interval" or "ratio".
        domain: Every possible value in ascending order; None takes the values that occur.
        clusters: What each item belongs to, such as its query; every item stands alone when None.
        confidence: Level of the interval, in (0, 1).
        seed: Seed of the resamples.

    Returns:
        Lower and upper bound, at most 1; None with fewer than two clusters, without an alpha, and where all
        resamples are alike, which is no certainty.

    Raises:
        ValueError: As `krippendorff`, or there is not one cluster per item.

    Source: Field and Welsh, 2007 (whole clusters), with the factor that few clusters need.

    >>> low, high = krippendorff_interval([[1, 2, 3, 1, 2], [1, 2, 2, 1, 3]], seed=1)
    >>> low < krippendorff([[1, 2, 3, 1, 2], [1, 2, 2, 1, 3]]) < high <= 1
    True
    """
    from nuggetstream.statistics.krippendorff import interval_of_ratings  # with the extra analysis

    rng = np.random.default_rng(seed)
    return interval_of_ratings(ratings, level, domain, clusters, rng, confidence=confidence)


def _label(given: object) -> str | None:
    """A label as text; None where it is missing, as None, NaN or pandas' own value.

    A column of integers with a gap is one of floats in pandas, so 2.0 is the label 2.
    """
    return None if is_missing(given) else shortest_form(str(given))


def _outcome(label: str) -> str | None:
    vote = None if label in _LETTERS else spelt_vote(label)
    return vote and vote.preference.value


def _label_set(labels: Sequence[str | None], source: str) -> LabelSet:
    return LabelSet(
        labels={f"{index}": label for index, label in enumerate(labels) if label is not None},
        source=source,
        unlabelled=tuple(f"{index}" for index, label in enumerate(labels) if label is None),
    )
