"""How far two sequences of labels agree, and several raters."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import nan
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from nuggetstream.api.choices import choice
from nuggetstream.api.sources import check_order, in_python
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import (
    VALUES,
    Kind,
    NotAccepted,
    check_kind,
    is_finite_number,
    is_missing,
    marks_in,
    marks_said,
    type_named,
)
from nuggetstream.domain.worker_label import shortest_form
from nuggetstream.files.spellings import spelt_vote
from nuggetstream.ratings.options import SEED
from nuggetstream.rubric.label_agreement import LabelAgreement, LabelSet, label_agreement

_LETTERS = ("c", "C")  # a tie in the verdicts of judges, but a grade like A and B elsewhere
_OUTCOMES = (Vote.A.value, Vote.TIE.value, Vote.B.value)
_TABLES = (Kind.SEQUENCE, Kind.ARRAY, Kind.FRAME)
_TABLE_EXPECTED = "a table with one row per rater: nested lists, an array, a frame"
_EXPECTED = "one label per item: a list, an array, a column of a frame, or a dictionary by item"
Given: TypeAlias = Mapping[Any, Any] | Iterable[Any]


@in_python
def agreement(
    first: Given,
    second: Given,
    *,
    order: Sequence[object] = (),
    missing: Collection[object] = (),
    clusters: Sequence[Hashable] | None = None,
) -> LabelAgreement:
    """Cohen's kappa of two sources of labels, with the counts behind it.

    κ = 1 - Σ w O / Σ w E, with O the observed and E the expected counts, and w = 1 where the labels differ
    (unweighted), |x - y| (linear) or (x - y)² (quadratic) for labels x and y on their scale.

    Args:
        first: Labels, one per item: outcomes of battles in their usual spellings (then "both bad" counts as a
            tie), or any other labels. None and NaN are missing, so is "NA" where all others are numbers or
            outcomes, and 2.0 is the label 2.
        second: Labels of the same items, in the same order; or both are dictionaries by item.
        order: Every label in ascending order. Without it, outcomes are ordered a, tie, b, and numbers lie on
            their own scale; other labels have no order, and so no weighted kappa.
        missing: Further labels that mean that there is none.
        clusters: What each item belongs to, such as its query; every item stands alone when None.

    Returns:
        Kappas in [-1, 1], higher is better, 0 is chance; `intervals` has their bounds. Items without both
        labels are left out and counted.

    Raises:
        NotAccepted: A source is a path, a DataFrame or another thing that holds no labels.
        ValueError: The sources or the clusters have different lengths, or indexes of pandas that differ.
        NothingLabelledTwice: No item has both labels.
        UnknownLabel: A label is not in `order`.

    Source: Cohen, 1960 and 1968.

    >>> result = agreement(["a", "b", "tie", "a", None], ["model_a", "b", "b", "tie", "a"])
    >>> result.pairs, result.observed, round(result.quadratic, 2), len(result.only_second)
    (4, 0.5, 0.69, 1)
    """
    items, ours, theirs = _aligned(first, second)
    if clusters is not None and len(clusters) != len(items):
        raise ValueError(f"there are {len(clusters)} clusters for {len(items)} items")
    ascending = [shortest_form(str(label)) for label in order]
    named = frozenset(shortest_form(str(label)) for label in missing)
    marks = [_marks(labels, ascending, named) for labels in (ours, theirs)]
    ours, theirs = (
        [None if label in own else label for label in labels]
        for labels, own in zip((ours, theirs), marks, strict=True)
    )
    if not ascending and (outcomes := _outcomes(ours, theirs)) is not None:
        (ours, theirs), ascending = outcomes, list(_OUTCOMES)
    of_item = None if clusters is None else dict(zip(items, clusters, strict=True))
    return label_agreement(
        _label_set(items, ours, "the first", marks[0]),
        _label_set(items, theirs, "the second", marks[1]),
        ascending,
        of_item,
    )


@in_python
def krippendorff(
    ratings: ArrayLike, level: str = "ordinal", *, domain: Sequence[Hashable] | None = None
) -> float:
    """Krippendorff's alpha: do several raters agree beyond chance, whoever rated what?

    α = 1 - D_observed / D_expected.

    Args:
        ratings: (raters, items) numbers or texts, one row per rater, as nested lists, an array or a frame.
            None, NaN and NA of pandas mean that the rater did not rate the item.
        level: "nominal", "ordinal", "interval" or "ratio".
        domain: Every possible value in ascending order; None takes the values that occur. Texts have no order
            without it.

    Returns:
        At most 1, higher is better, 0 is chance; NaN where nothing could have disagreed.

    Raises:
        NotAccepted: The ratings are a path, a dictionary or another thing that is no table.
        ValueError: The ratings form no table, or the level does not fit the values.

    Source: Krippendorff, "Content Analysis", 2004.

    >>> round(krippendorff([[1, 2, 3, None], [1, 2, 2, 3]]), 3)
    0.778
    """
    from nuggetstream.statistics.krippendorff import Level, alpha_of_ratings  # with the extra analysis

    check_kind("ratings", ratings, _TABLES, _TABLE_EXPECTED)
    alpha = alpha_of_ratings(ratings, choice("level", Level, level), domain)
    return nan if alpha is None else alpha


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
    from nuggetstream.statistics.krippendorff import Level, interval_of_ratings  # with the extra analysis

    check_kind("ratings", ratings, _TABLES, _TABLE_EXPECTED)
    rng, chosen = np.random.default_rng(seed), choice("level", Level, level)
    return interval_of_ratings(ratings, chosen, domain, clusters, rng, confidence=confidence)


def _aligned(first: Given, second: Given) -> tuple[list[str], list[str | None], list[str | None]]:
    """Names of the items, and both labels of each."""
    for name, given in (("first", first), ("second", second)):
        check_kind(name, given, VALUES | {Kind.MAPPING}, _EXPECTED)
    if isinstance(first, Mapping) != isinstance(second, Mapping):
        raise NotAccepted("first and second: expected two dictionaries, or two lists of the same items")
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        items = list(dict.fromkeys((*first, *second)))
        first, second = ([given.get(item) for item in items] for given in (first, second))
    else:
        check_order(first, second)
        first, second = list(first), list(second)
        items = list(range(len(first)))
    if len(first) != len(second):
        raise ValueError(f"the first source has {len(first)} labels and the second {len(second)}")
    ours, theirs = (
        [_label(label, name) for label in given] for name, given in (("first", first), ("second", second))
    )
    return [str(item) for item in items], ours, theirs


def _outcomes(*sources: Sequence[str | None]) -> list[list[str | None]] | None:
    """The labels as outcomes in one spelling; None where a label of a source is no outcome."""
    spelt = [[None if label is None else _outcome(label) for label in labels] for labels in sources]
    known = all(
        outcome is not None or label is None
        for labels, outcomes in zip(sources, spelt, strict=True)
        for label, outcome in zip(labels, outcomes, strict=True)
    )
    return spelt if known else None


def _label(given: object, source: str) -> str | None:
    """A label as text; None where it is missing.

    A column of integers with a gap is one of floats in pandas, so 2.0 is the label 2.
    """
    if is_missing(given):
        return None
    if isinstance(given, list | tuple | dict | set):
        raise NotAccepted(f"{source}: holds {type_named(given)}; expected {_EXPECTED}")
    return shortest_form(str(given))


def _marks(labels: Sequence[str | None], order: Sequence[str], named: Collection[str]) -> Counter[str]:
    """The labels that say that there is none."""

    def is_known(label: str) -> bool:
        return label in order or is_finite_number(label) or _outcome(label) is not None

    return marks_in(labels, is_known, named)


def _outcome(label: str) -> str | None:
    vote = None if label in _LETTERS else spelt_vote(label)
    return vote and vote.preference.value


def _label_set(
    items: Sequence[str], labels: Sequence[str | None], source: str, marks: Counter[str]
) -> LabelSet:
    pairs = list(zip(items, labels, strict=True))
    return LabelSet(
        labels={item: label for item, label in pairs if label is not None},
        source=source,
        unlabelled=tuple(item for item, label in pairs if label is None),
        remarks=(marks_said(source, marks),) if marks else (),
    )
