"""How far the arms of a study agree: people, experts, a judge in both orders, ratings of single answers.

    labels of each arm  ->  alpha within itself, and with its pairs turned to one order
                        ->  alpha with the gold labels of the same items
    every two arms      ->  alpha of every label of one with every label of the other

The order that turns a pair is alphabetical, as for `agreement_by_side`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, product
from math import isnan, nan
from statistics import fmean
from typing import Any, TypeVar

from nuggetstream.crowd.ordering import forward
from nuggetstream.crowd.reliability import alpha_of, mean
from nuggetstream.crowd.scale import ScaleOptions, UnusableLabels, scale_labels
from nuggetstream.domain.pair_label import PREFERENCES
from nuggetstream.domain.worker_label import JOINED, WorkerLabel
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.record import as_number
from nuggetstream.files.table_data import Column
from nuggetstream.files.tables import Table, count, number, text

Labels = Sequence[WorkerLabel]
Arm = Mapping[str, Labels]
"""Dimension -> labels."""
MEAN = "mean"
_ALPHAS = ("alpha", "both_orders", "with_gold")
_Row = TypeVar("_Row", "ArmAgreement", "CrossAgreement")
_NO_ALPHA = "no alpha: no item has two labels, or all labels are the same; no mean: a dimension has no alpha"


@dataclass(frozen=True, slots=True)
class ArmAgreement:
    """One arm in one dimension.

    Attributes:
        arm: Name of the arm.
        dimension: Name of the dimension; "mean" for the mean over all of them.
        items: Number of items, pairs in each order in which they were shown.
        alpha: Krippendorff's alpha of the labels of every item; None when undefined.
        both_orders: The same with every pair turned to one order, so that labels of both orders count
            together; None where no pair was shown in both.
        gold_items: Number of items that have a gold label.
        with_gold: Alpha of the labels and gold labels of these items, turned; None when undefined.
    """

    arm: str
    dimension: str
    items: int
    alpha: float | None
    both_orders: float | None
    gold_items: int
    with_gold: float | None


@dataclass(frozen=True, slots=True)
class CrossAgreement:
    """Two arms in one dimension.

    Attributes:
        first: Name of one arm.
        second: Name of the other.
        dimension: Name of the dimension; "mean" for the mean over those of both.
        items: Number of items that both labelled.
        alpha: Alpha of every label of one with every label of the other about the same item, turned, so that
            agreement within an arm does not count; None when undefined.
    """

    first: str
    second: str
    dimension: str
    items: int
    alpha: float | None


@dataclass(frozen=True, slots=True, repr=False)
class ArmStudy(Drawn):
    """How far arms agree. As a table: each arm by dimension.

    Attributes:
        arms: One entry per arm and dimension; the mean last where an arm has several.
        across: One entry per two arms and dimension that both have, in the same way.
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    arms: Sequence[ArmAgreement]
    across: Sequence[CrossAgreement]
    remarks: Sequence[str] = ()

    def table(self) -> Table:
        """One row per arm and dimension."""
        columns = (
            *(text("arm"), text("dimension"), count("items"), number("alpha", digits=3)),
            *(number("both_orders", digits=3), count("gold_items"), number("with_gold", digits=3)),
        )
        notes = (
            "both orders: pairs turned to one order; with gold: the same, with their gold labels",
            _NO_ALPHA,
            *self.remarks,
        )
        return Table("Arms (Krippendorff's alpha)", columns, _rows(self.arms, columns), notes)

    def across_table(self) -> Table:
        """One row per two arms and dimension."""
        names = (text(name) for name in ("first", "second", "dimension"))
        columns = (*names, count("items"), number("alpha", digits=3))
        notes = ("alpha: every label of one arm with every label of the other", _NO_ALPHA)
        title = "Arms with each other (Krippendorff's alpha)"
        return Table(title, columns, _rows(self.across, columns), notes)


def compare_arms(arms: Mapping[str, Arm], gold: Arm | None = None, remarks: Sequence[str] = ()) -> ArmStudy:
    """How far each arm agrees with itself, with gold labels, and with the other arms.

    Numbers beside labels a, n, b become preferences: of a pair, the answer with the higher mean is better.

    Args:
        arms: Name -> labels by dimension. Numbers and a, n (or tie), b have an order; others are nominal.
        gold: Gold labels by dimension; None for none.
        remarks: How the rows were read; reported, and not used otherwise.

    Raises:
        UnusableLabels: There is no arm, or a dimension has no label.

    Source: Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR 2025, Table 9.

    >>> people = {"depth": [WorkerLabel("tide", "ann", "a"), WorkerLabel("reef", "ann", "b")]}
    >>> judge = {"depth": [WorkerLabel("tide", "judge", "a"), WorkerLabel("reef", "judge", "b")]}
    >>> compare_arms({"people": people, "judge": judge}).across[0].alpha
    1.0
    """
    if not arms or not all(arm and all(arm.values()) for arm in arms.values()):
        raise UnusableLabels("there must be an arm, and every dimension must have a label")
    shown = {name: {dim: _spelt(labels) for dim, labels in arm.items()} for name, arm in arms.items()}
    turned = {name: {dim: _turned(labels) for dim, labels in arm.items()} for name, arm in shown.items()}
    golden = {dim: _turned(_spelt(labels)) for dim, labels in (gold or {}).items()}
    agreements = (
        [_within(name, dim, labels, turned[name][dim], golden.get(dim, ())) for dim, labels in arm.items()]
        for name, arm in shown.items()
    )
    across = (
        [_across(one, other, dim, turned) for dim in turned[one] if dim in turned[other]]
        for one, other in combinations(turned, 2)
    )
    return ArmStudy(
        [row for rows in agreements for row in _with_mean(rows)],
        [row for rows in across for row in _with_mean(rows)],
        remarks,
    )


def _within(arm: str, dimension: str, shown: Labels, turned: Labels, gold: Labels) -> ArmAgreement:
    ours, theirs = _alike(turned, gold)
    common = _items(ours) & _items(theirs)
    items, pairs = _items(shown), _items(turned)
    return ArmAgreement(
        arm=arm,
        dimension=dimension,
        items=len(items),
        alpha=_alpha(shown),
        both_orders=_alpha(turned) if len(pairs) < len(items) else None,
        gold_items=len(common),
        with_gold=_alpha([label for label in (*ours, *theirs) if label.item in common]),
    )


def _across(one: str, other: str, dimension: str, arms: Mapping[str, Arm]) -> CrossAgreement:
    ours, theirs = map(_by_item, _alike(arms[one][dimension], arms[other][dimension]))
    common = ours.keys() & theirs.keys()
    couples = [couple for item in ours if item in common for couple in product(ours[item], theirs[item])]
    labels = [replace(label, item=str(n)) for n, couple in enumerate(couples) for label in couple]
    return CrossAgreement(one, other, dimension, len(common), _alpha(labels))


def _alpha(labels: Labels) -> float | None:
    """Krippendorff's alpha; the distance of numbers and of a, n, b is ordinal, that of others nominal."""
    if not labels:
        return None
    scales, spelt = scale_labels({MEAN: labels}, ScaleOptions())
    return alpha_of(spelt[MEAN], scales[MEAN]).value


def _spelt(labels: Labels) -> list[WorkerLabel]:
    """Labels, those of a choice between two answers as a, n, b."""
    letters = [label.label.casefold() for label in labels]
    if not set(letters) <= PREFERENCES.keys():
        return list(labels)
    named = ("n" if letter == "tie" else letter for letter in letters)
    return [replace(label, label=letter) for label, letter in zip(labels, named, strict=True)]


def _turned(labels: Labels) -> Labels:
    """Labels with every pair in alphabetical order, where they choose between two answers."""
    return [forward(label) for label in labels] if _chooses(labels) else labels


def _chooses(labels: Labels) -> bool:
    return {label.label for label in labels} <= PREFERENCES.keys()


def _alike(ours: Labels, theirs: Labels) -> tuple[Labels, Labels]:
    """Both as preferences where one of them are."""
    if _chooses(ours) == _chooses(theirs):
        return ours, theirs
    if _chooses(ours):
        return ours, list(_preferences(theirs, ours))
    return list(_preferences(ours, theirs)), theirs


def _preferences(ratings: Labels, pairs: Labels) -> Iterator[WorkerLabel]:
    """Which answer of each pair is rated higher on average, where both are rated."""
    means = {item: fmean(as_number(label.label) for label in own) for item, own in _by_item(ratings).items()}
    for name, pair in {label.item: label.shown for label in pairs if label.shown}.items():
        topic = [] if pair.topic is None else [pair.topic]
        values = [means.get(JOINED.join((*topic, side)), nan) for side in sorted((pair.first, pair.second))]
        if not any(map(isnan, values)):
            first, second = values
            label = "a" if first > second else "b" if first < second else "n"
            yield WorkerLabel(item=name, worker=MEAN, label=label)


def _by_item(labels: Labels) -> dict[str, list[WorkerLabel]]:
    by_item: dict[str, list[WorkerLabel]] = {}
    for label in labels:
        by_item.setdefault(label.item, []).append(label)
    return by_item


def _items(labels: Labels) -> set[str]:
    return {label.item for label in labels}


def _with_mean(rows: Sequence[_Row]) -> Iterator[_Row]:
    """The dimensions of an arm, or of two, and their mean where there are several."""
    yield from rows
    if len(rows) < 2:
        return
    means: dict[str, Any] = {"dimension": MEAN}
    for field in fields(rows[0]):
        values = {row.dimension: getattr(row, field.name) for row in rows}
        if field.name in _ALPHAS:
            means[field.name] = mean(values)
        elif field.type is int:
            means[field.name] = max(values.values())
    yield replace(rows[0], **means)


def _rows(results: Iterable[object], columns: Sequence[Column]) -> tuple[tuple[Any, ...], ...]:
    return tuple(tuple(getattr(one, column.names[0]) for column in columns) for one in results)
