"""Merits and grades of the items of every topic, from labels that compare two items."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from nuggetstream.crowd.grades import REGULARISATION, TIE, Comparison, grades, merit_levels, merits
from nuggetstream.domain.battle import Vote
from nuggetstream.domain.pair_label import PairLabel
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files.numerals import many
from nuggetstream.files.tables import Table, count, flag, number, rows_from, text


@dataclass(frozen=True, slots=True)
class ItemGrade:
    """One item of one topic in one dimension.

    Attributes:
        dimension: Name of the dimension.
        topic: Name of the topic; None where labels have no topic.
        item: Name of the item.
        comparisons: Number of labels about the item.
        merit: Merit in logits, higher is better; comparable within the topic only.
        grade: Rank of the merit within the topic, from 1 (worst) to the number of items.
        shared: Whether another item of the topic has the same merit, so that their grades are arbitrary.
    """

    dimension: str
    topic: str | None
    item: str
    comparisons: int
    merit: float
    grade: int
    shared: bool


@dataclass(frozen=True, slots=True, repr=False)
class TopicGrades(Drawn):
    """Merits and grades of all topics and dimensions. As a table: one row per item, the best first.

    Attributes:
        items: In order of dimension and topic as first labelled; within a topic the best first.
        regularisation: λ.
        tie: t.
        labels: Number of labels that were used.
        unlabelled: Number of cells where a label could be and none is.
        remarks: What a reader must know of how the rows were read, as sentences.
    """

    items: tuple[ItemGrade, ...]
    regularisation: float
    tie: float
    labels: int
    unlabelled: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def topics(self) -> int:
        """Number of different topics."""
        return len({item.topic for item in self.items})

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions, in the order given."""
        return tuple(dict.fromkeys(item.dimension for item in self.items))

    def table(self) -> Table:
        """One row per item."""
        columns = (
            text("dimension"),
            text("topic"),
            text("item"),
            count("comparisons", "labels"),
            number("merit", digits=3),
            count("grade"),
            flag("shared", "tied"),
        )
        notes = [
            f"Bradley-Terry with ties: regularisation λ {self.regularisation:g}, tie t {self.tie:g}",
            "grade: rank within the topic, 1 is the worst; merits of different topics do not compare",
        ]
        if tied := sum(item.shared for item in self.items):
            notes.append(f"{many(tied, 'item')} tied: same merit as another, so their order is arbitrary")
        notes += self.remarks
        if self.unlabelled:
            notes.append(f"{many(self.unlabelled, 'cell')} without a label: neither labels nor ties")
        return Table("Grades per topic", columns, rows_from(columns, self.items), tuple(notes))


def grade_topics(
    labels: Iterable[PairLabel],
    *,
    regularisation: float = REGULARISATION,
    tie: float = TIE,
    unlabelled: int = 0,
    remarks: tuple[str, ...] = (),
) -> TopicGrades:
    """Merits and grades by a tie-aware Bradley-Terry model, for every topic and dimension separately.

    Args:
        labels: Labels that compare two items of one topic; several labels may be about the same two items.
        regularisation: λ, above 0: wins and losses of every item against a dummy item.
        tie: t, above 0: how close two merits must be for a tie.
        unlabelled: Number of cells where a label could be and none is; reported, and not used otherwise.
        remarks: How the rows were read; reported, and not used otherwise.

    Raises:
        ValueError: There is no label, a label is none of A, TIE and B, or a parameter is not above 0.

    Source: Rao and Kupper, 1967; Gienapp et al., "The Viability of Crowdsourcing for RAG Evaluation", SIGIR
        2025.

    >>> labels = [PairLabel("x", "y", Vote.A), PairLabel("y", "z", Vote.TIE), PairLabel("x", "z", Vote.A)]
    >>> [(item.item, item.grade, item.shared) for item in grade_topics(labels).items]
    [('x', 3, False), ('y', 2, True), ('z', 1, True)]
    """
    groups: dict[str, dict[str | None, list[PairLabel]]] = {}
    used = 0
    for label in labels:
        groups.setdefault(label.dimension, {}).setdefault(label.topic, []).append(label)
        used += 1
    if not groups:
        raise ValueError("there must be a label that compares two items")
    items = tuple(
        item
        for topics in groups.values()
        for of_topic in topics.values()
        for item in _graded(of_topic, regularisation=regularisation, tie=tie)
    )
    return TopicGrades(
        items=items,
        regularisation=regularisation,
        tie=tie,
        labels=used,
        unlabelled=unlabelled,
        remarks=remarks,
    )


def _graded(labels: Sequence[PairLabel], *, regularisation: float, tie: float) -> list[ItemGrade]:
    """The items of one topic in one dimension, the best first.

    Items of equal merit that did not beat one another are graded by name, the alphabetically first higher.
    """
    # `grades` puts the later name higher where nothing else decides.
    ordered = sorted({name for label in labels for name in (label.first, label.second)}, reverse=True)
    index_of = {name: index for index, name in enumerate(ordered)}
    met = [_comparison(index_of[label.first], index_of[label.second], label.label) for label in labels]
    fitted = merits(met, len(ordered), tie=tie, regularisation=regularisation)
    merit, grade = dict(zip(ordered, map(float, fitted), strict=True)), grades(ordered, fitted, met)
    names = sorted(merit, key=lambda name: -grade[name])
    levels = merit_levels(np.array([merit[name] for name in names])).tolist()
    comparisons = Counter(name for label in labels for name in (label.first, label.second))
    return [
        ItemGrade(
            dimension=labels[0].dimension,
            topic=labels[0].topic,
            item=name,
            comparisons=comparisons[name],
            merit=merit[name],
            grade=grade[name],
            shared=levels.count(level) > 1,
        )
        for name, level in zip(names, levels, strict=True)
    ]


def _comparison(first: int, second: int, label: Vote) -> Comparison:
    if label is Vote.BOTH_BAD:
        raise ValueError("a label says which item is better or that neither is; it cannot be both_bad")
    if label is Vote.B:
        return Comparison(second, first)
    return Comparison(first, second, tie=label is Vote.TIE)
