"""One overall Cohen's kappa of two sets of labels of the same items."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.note import Note
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.matrices import confusion_matrix
from nuggetstream.files import tables
from nuggetstream.files.numerals import between, fixed, many, percent, shortened
from nuggetstream.files.table_data import Cell
from nuggetstream.files.tables import Table
from nuggetstream.rubric.label_intervals import kappa_intervals
from nuggetstream.statistics.agreement import KappaWeights, weighted_kappa
from nuggetstream.statistics.share import FEW

_NAMED = 6


class NothingLabelledTwice(ValueError):
    """No item has a label in both sets."""


class UnknownLabel(ValueError):
    """A label that is not among the labels named."""


@dataclass(frozen=True, slots=True)
class LabelSet:
    """One annotator's labels.

    Attributes:
        labels: Item -> label.
        source: Name for messages and results, such as the path of a file.
        unlabelled: Items that are there without a label.
        remarks: What a reader must know of how the labels were read, as sentences.
    """

    labels: Mapping[str, str]
    source: str = "the labels"
    unlabelled: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class LabelAgreement(Drawn):
    """How two sets of labels of the same items agree. As a figure: the counts.

    Attributes:
        first: Labels of the first annotator.
        second: Labels of the second annotator.
        labels: All labels, in their order where they have one.
        scale: Value of each label: numbers without a given order are their own, others evenly spaced.
        counts: counts[i][j] is how often the first gave label i and the second label j.
        pairs: Number of items with both labels.
        observed: Share of the pairs with equal labels, in [0, 1].
        unweighted: Cohen's kappa; None where chance alone agrees perfectly.
        linear: Kappa with linear weights; None also where the labels have no order.
        quadratic: Kappa with quadratic weights; None also where the labels have no order.
        ordered: Whether the labels have an order.
        only_first: Items with a label in the first set only.
        only_second: Items with a label in the second set only.
        clusters: Item -> cluster that it is drawn with in intervals; the items stand alone when None.
    """

    first: LabelSet
    second: LabelSet
    labels: tuple[str, ...]
    scale: tuple[float, ...]
    counts: tuple[tuple[int, ...], ...]
    pairs: int
    observed: float
    unweighted: float | None
    linear: float | None
    quadratic: float | None
    ordered: bool
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    clusters: Mapping[str, Hashable] | None = None

    @property
    def intervals(self) -> dict[str, tuple[float, float] | None]:
        """95% intervals of `observed`, `unweighted`, `linear` and `quadratic`, drawing whole clusters again.

        Each is a lower and an upper bound, at most 1; None where there is none, see
        `cluster_bootstrap.bounds`.
        """
        items = [item for item in self.first.labels if item in self.second.labels]
        index = {label: number for number, label in enumerate(self.labels)}
        spelt = (_spelling(given.labels, self.labels) for given in (self.first, self.second))
        rows, columns = ([index[names[item]] for item in items] for names in spelt)
        clusters = items if self.clusters is None else [self.clusters[item] for item in items]
        found = kappa_intervals(rows, columns, clusters, self.scale)
        return {name: ends if getattr(self, name) is not None else None for name, ends in found.items()}

    @property
    def notes(self) -> tuple[Note, ...]:
        """States of the data that change how the numbers are read."""
        return tuple(_notes(self))

    def table(self) -> DrawnTable:
        """The coefficients in one row; `counts_table` shows what they rest on."""
        columns = (
            tables.count("pairs", "compared"),
            tables.count("only_first"),
            tables.count("only_second"),
            tables.percent("observed", "equal"),
            tables.number("unweighted", "kappa", digits=3),
            tables.number("linear", "kappa, linear", digits=3),
            tables.number("quadratic", "kappa, quadratic", digits=3),
        )
        row = (
            self.pairs,
            len(self.only_first),
            len(self.only_second),
            self.observed,
            self.unweighted,
            self.linear,
            self.quadratic,
        )
        sides = (("first", self.first), ("second", self.second))
        notes = (
            *(f"{side}: {many(len(given.labels), 'label')} of {given.source}" for side, given in sides),
            *self._intervals_in_words(),
            *(note.text for note in self.notes),
        )
        return DrawnTable("Agreement", columns, (row,), notes, drawing=self._counts_figure)

    def _intervals_in_words(self) -> Iterator[str]:
        shown = {"observed": "equal", "unweighted": "kappa", "linear": "linear", "quadratic": "quadratic"}
        texts = [
            f"{shown[name]} {between(fixed(ends[0], 2), fixed(ends[1], 2))}"
            for name, ends in self.intervals.items()
            if ends is not None
        ]
        if texts:
            what = "items" if self.clusters is None else "clusters of items"
            few = len(set(self.clusters.values())) if self.clusters is not None else self.pairs
            worth = f"; fewer than {FEW} of them, so only approximate" if few < FEW else ""
            yield f"95%, drawing {what} again: {', '.join(texts)}{worth}"

    def counts_table(self) -> Table:
        """Counts: a row per label of the first annotator, a column per label of the second."""
        columns = (
            tables.text("first"),
            *(tables.count(f"second_{label}", label) for label in self.labels),
        )
        rows: list[tuple[Cell, ...]] = [
            (label, *counts) for label, counts in zip(self.labels, self.counts, strict=True)
        ]
        return Table("First annotator by row, second by column", columns, tuple(rows))

    def __str__(self) -> str:
        return f"{self.table()}\n\n{self.counts_table()}"

    def _repr_html_(self) -> str:
        return f"{self.table().to_html()}\n{self.counts_table().to_html()}{self._figure_html()}"

    def _counts_figure(self) -> Figure:
        equal = f"{percent(self.observed)} of {many(self.pairs, 'item')} with equal labels"
        names = (self.first.source, self.second.source)
        return confusion_matrix(f"Agreement: {equal}", self.labels, self.counts, *names)


def label_agreement(
    first: LabelSet,
    second: LabelSet,
    order: Sequence[str] = (),
    clusters: Mapping[str, Hashable] | None = None,
) -> LabelAgreement:
    """Pair two sets of labels by item and compute one kappa over all pairs.

    Labels that are all numbers lie on their own scale: a disagreement between 0 and 3 weighs three times (or
    nine times) one between 0 and 1. Named labels are evenly spaced in the order given.

    Args:
        first: Labels of the first annotator.
        second: Labels of the second annotator.
        order: All labels in their order, in any case; empty for labels that are numbers or have no order.
        clusters: Item -> cluster that it is drawn with in intervals; the items stand alone when None.

    Returns:
        Kappas in [-1, 1], 1 for perfect agreement and 0 for as much as chance gives.

    Raises:
        NothingLabelledTwice: No item has a label in both sets.
        UnknownLabel: A label is not in `order`.

    >>> one, other = LabelSet({"x": "0", "y": "1", "z": "2"}), LabelSet({"x": "0", "y": "2", "z": "2"})
    >>> agreement = label_agreement(one, other)
    >>> agreement.pairs, round(agreement.unweighted, 3), round(agreement.quadratic, 3)
    (3, 0.5, 0.8)
    """
    pairs, labels, numeric = _paired(first, second, order)
    order = labels if order or numeric else ()
    met = Counter(pairs)
    counts_of_pairs = tuple(tuple(met[row, column] for column in labels) for row in labels)
    confusion = np.array(counts_of_pairs, dtype=float)
    scale = tuple(map(float, labels if numeric else range(len(labels))))
    kappas = {
        weights: weighted_kappa(confusion, weights, scale)
        for weights in KappaWeights
        if order or weights is KappaWeights.NONE
    }
    return LabelAgreement(
        first=first,
        second=second,
        labels=labels,
        scale=scale,
        counts=counts_of_pairs,
        pairs=len(pairs),
        observed=sum(x == y for x, y in pairs) / len(pairs),
        unweighted=kappas[KappaWeights.NONE],
        linear=kappas.get(KappaWeights.LINEAR),
        quadratic=kappas.get(KappaWeights.QUADRATIC),
        ordered=bool(order),
        only_first=tuple(item for item in first.labels if item not in second.labels),
        only_second=tuple(item for item in second.labels if item not in first.labels),
        clusters=clusters,
    )


def _paired(
    first: LabelSet, second: LabelSet, order: Sequence[str]
) -> tuple[list[tuple[str, str]], tuple[str, ...], bool]:
    """Pairs of labels in the spelling of the order, all labels, and whether numbers order them."""
    pairs = [(label, second.labels[item]) for item, label in first.labels.items() if item in second.labels]
    if not pairs:
        counts = f"{many(len(first.labels), 'label')} and {many(len(second.labels), 'label')}"
        raise NothingLabelledTwice(f"{first.source} and {second.source}: {counts}, no item in both")
    used = {label for pair in pairs for label in pair}
    numbers = None if order else _numbers(used)
    if numbers is not None:
        order = sorted({_as_number(value) for value in numbers.values()}, key=float)
    spelling = _spelling({label: label for label in used}, order)
    pairs = [(spelling[x], spelling[y]) for x, y in pairs]
    labels = tuple(dict.fromkeys(order or sorted({label for pair in pairs for label in pair})))
    if unknown := {label for pair in pairs for label in pair} - set(labels):
        raise UnknownLabel(f"{min(unknown)!r} is not one of the labels named: {', '.join(labels)}")
    return pairs, labels, numbers is not None


def _as_number(value: float) -> str:
    """A number as a label: "2" and "2.0" are the same."""
    return f"{value:.12g}"


def _spelling(labels: Mapping[str, str], order: Sequence[str]) -> dict[str, str]:
    """Labels as they are spelt in the order: in its case, and numbers as they are written there."""
    exact, folded = set(order), {label.casefold(): label for label in order}
    numbers = _numbers(order) or {}
    written = {_as_number(value): label for label, value in numbers.items()}

    def spelt(label: str) -> str:
        if label in exact:
            return label
        number = _numbers([label]) if written else None
        value = written.get(_as_number(number[label])) if number else None
        return value or folded.get(label.casefold(), label)

    return {name: spelt(label) for name, label in labels.items()}


def _numbers(labels: Iterable[str]) -> dict[str, float] | None:
    """Label -> number; None as soon as one label is not a number."""
    try:
        numbers = {label: float(label) for label in labels}
    except ValueError:
        return None
    return numbers if all(map(math.isfinite, numbers.values())) else None


def _notes(agreement: LabelAgreement) -> Iterator[Note]:
    for remark in (*agreement.first.remarks, *agreement.second.remarks):
        yield Note("labels_read", remark)
    for labels, only in ((agreement.first, agreement.only_first), (agreement.second, agreement.only_second)):
        if only:
            text = f"{many(len(only), 'item')} with a label only in {labels.source}, left out"
            yield Note("label_in_one_file", f"{text}: {shortened(only, _NAMED)}")
        if labels.unlabelled:
            items = many(len(labels.unlabelled), "item")
            text = f"{items} without a label in {labels.source}, left out"
            yield Note("unlabelled", f"{text}: {shortened(labels.unlabelled, _NAMED)}")
    if not agreement.ordered:
        yield Note("no_order", "the labels have no order: no weighted kappa until they are named in order")
    if agreement.unweighted is None:
        yield Note("no_kappa", "no kappa: chance alone agrees perfectly when both use one label only")
