"""Do groups of items, such as answers by people and by a model, get different grades? Which dimensions agree?

Grades are ranks within a topic, so groups are compared topic by topic and dimensions within each topic.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from nuggetstream.crowd.within_topics import (
    BestAsReference,
    DimensionPair,
    GroupedGrade,
    against_best,
    between_dimensions,
)
from nuggetstream.figures.drawn import Drawn
from nuggetstream.files import tables
from nuggetstream.files.columns import with_columns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.tables import Table, count, interval, number, text
from nuggetstream.statistics.paired import PairedTest, benjamini_hochberg, wilcoxon


@dataclass(frozen=True, slots=True)
class GroupMean:
    """The grades of one group in one dimension; the standard deviation is None for a single item."""

    dimension: str
    within: str
    group: str
    items: int
    mean: float
    deviation: float | None


@dataclass(frozen=True, slots=True)
class Contrast:
    """Grades of two groups in one dimension, paired by topic.

    Attributes:
        dimension: Name of the dimension.
        within: What the groups are compared within; empty for all.
        first: Name of the first group.
        second: Name of the second group.
        topics: Number of topics in which both have a grade; of several items of a group the mean counts.
        p_value: p-value of the two-sided Wilcoxon test; None where no topic differs.
        adjusted: p-value adjusted by Benjamini-Hochberg over all contrasts that have one.
        mean_difference: Mean of the first group's grade minus the second's; None where no topic differs.
    """

    dimension: str
    within: str
    first: str
    second: str
    topics: int
    p_value: float | None
    adjusted: float | None
    mean_difference: float | None

    def significant(self, rate: float = 0.05) -> bool:
        """Whether the difference is significant at this false discovery rate."""
        return self.adjusted is not None and self.adjusted < rate


@dataclass(frozen=True, slots=True, repr=False)
class GroupComparison(Drawn):
    """Grades by group. As a table: the tests.

    Attributes:
        means: One entry per dimension and group.
        contrasts: One entry per dimension and two groups.
        dimensions: One entry per two dimensions that have an order in a common topic.
        references: One entry per dimension and measure, of items that have a text.
        left_out: Number of grades of items whose group is not known.
    """

    means: Sequence[GroupMean]
    contrasts: Sequence[Contrast]
    dimensions: Sequence[DimensionPair]
    references: Sequence[BestAsReference]
    left_out: int = 0

    def table(self) -> Table:
        """One row per test."""
        columns = (
            *(text(name) for name in ("dimension", "within", "first", "second")),
            count("topics"),
            number("mean_difference"),
            tables.p_value("p_value", "p-value"),
            tables.p_value("adjusted"),
        )
        rows = tuple(
            (
                *(one.dimension, one.within, one.first, one.second),
                *(one.topics, one.mean_difference, one.p_value, one.adjusted),
            )
            for one in self.contrasts
        )
        notes = (
            "Wilcoxon's signed-rank test, two-sided, paired by topic; adjusted: Benjamini-Hochberg, all rows",
            *(
                [f"{self.left_out:,} grades of items without a known group, left out"]
                if self.left_out
                else []
            ),
        )
        return Table("Grades of two groups", columns, rows, notes)

    def means_table(self) -> Table:
        """One row per dimension and group."""
        columns = (
            *(text(name) for name in ("dimension", "within", "group")),
            count("items"),
            number("mean"),
            number("deviation", "standard deviation"),
        )
        rows = tuple(
            (one.dimension, one.within, one.group, one.items, one.mean, one.deviation) for one in self.means
        )
        return Table("Grades by group", columns, rows)

    def dimensions_table(self) -> Table:
        """One row per two dimensions."""
        columns = (
            text("first"),
            text("second"),
            count("topics"),
            number("tau"),
            interval("low", "high", "95%"),
        )
        rows = tuple(
            (one.first, one.second, one.topics, one.tau, (one.low, one.high)) for one in self.dimensions
        )
        note = "Kendall's tau-b within a topic, mean over topics; 95%: percentile bootstrap over topics"
        return Table("Dimensions", columns, rows, (note,))

    def references_table(self) -> Table:
        """How closely overlap with the best text of a topic follows the grades of its other texts."""
        columns = (
            text("dimension"),
            text("measure"),
            count("topics"),
            number("rho"),
            interval("low", "high", "95%"),
        )
        rows = tuple(
            (one.dimension, one.measure, one.topics, one.rho, (one.low, one.high)) for one in self.references
        )
        note = "Spearman's rho within a topic, mean over topics; 95%: percentile bootstrap over topics"
        return Table("The best text as reference", columns, rows, (note,))


def grouped_grades(
    grades: Iterable[Record],
    by: str,
    within: str | None = None,
    items: Iterable[Record] = (),
    text: str | None = None,
) -> tuple[list[GroupedGrade], int]:
    """Grades with the groups of their items, and how many grades have none.

    Args:
        grades: Rows with item and grade, and perhaps topic and dimension, as `crowd grades` writes them.
        by: Column of the group.
        within: Column of what groups are compared within.
        items: Rows with item and these columns; without any, the rows of grades have them.
        text: Column of the texts of items; None without texts.

    Raises:
        UnusableFile: A grade is no number, an item with a group lacks the other column (names file, line and
            field), or no item has a group.
    """
    columns = tuple(name for name in (by, within, text) if name)
    by_item = {record.needed_key("item"): record for record in with_columns(items, ("item", *columns))}
    graded, left_out = [], 0
    for record in with_columns(grades, ("item", "grade", "dimension", "topic", *columns)):
        item, grade = record.needed_key("item"), as_number(text_of_grade := record.needed("grade"))
        if not math.isfinite(grade):
            raise record.wrong("grade", f"is {text_of_grade!r}; expected a number")
        if (own := by_item.get(item) if by_item else record) is None or own.text(by) is None:
            left_out += 1
            continue
        graded.append(
            GroupedGrade(
                dimension=record.text("dimension") or "grade",
                topic=record.key("topic") or "",
                item=item,
                grade=grade,
                group=own.needed(by),
                within=own.needed(within) if within else "",
                text=own.needed(text) if text else "",
            )
        )
    if not graded:
        raise UnusableFile(f"{by}: no graded item has this column, see --by")
    return graded, left_out


def compare_groups(grades: Sequence[GroupedGrade], left_out: int = 0) -> GroupComparison:
    """Test every two groups in every dimension, and correlate every two dimensions.

    Args:
        grades: One entry per item and dimension.
        left_out: Number of grades of items whose group is not known; reported, and not used otherwise.

    Source: Wilcoxon, 1945; Benjamini and Hochberg, 1995; Kendall, 1945; Gienapp et al., "The Viability of
        Crowdsourcing for RAG Evaluation", SIGIR 2025.

    >>> def graded(n, group):
    ...     grade = n + 2.0 * (group == "x")
    ...     return GroupedGrade(dimension="d", topic=f"t{n}", item=f"{group}{n}", grade=grade, group=group)
    >>> rows = [graded(n, group) for n in range(5) for group in "xy"]
    >>> compare_groups(rows).contrasts[0].mean_difference
    2.0
    """
    cells: dict[tuple[str, str], dict[str, dict[str, list[float]]]] = {}
    for one in grades:
        groups = cells.setdefault((one.dimension, one.within), {})
        groups.setdefault(one.group, {}).setdefault(one.topic, []).append(one.grade)
    tests: dict[tuple[str, str, str, str], tuple[int, PairedTest | None]] = {}
    for cell, groups in cells.items():
        for first, second in combinations(sorted(groups), 2):
            topics = sorted(groups[first].keys() & groups[second].keys())
            ours, theirs = (
                [statistics.fmean(groups[name][topic]) for topic in topics] for name in (first, second)
            )
            tests[(*cell, first, second)] = len(topics), wilcoxon(ours, theirs) if topics else None
    adjusted = benjamini_hochberg({key: test.p_value for key, (_, test) in tests.items() if test})
    return GroupComparison(
        means=[_mean(*cell, group, own) for cell, groups in cells.items() for group, own in groups.items()],
        contrasts=[
            Contrast(
                *key,
                topics=topics,
                p_value=test.p_value if test else None,
                adjusted=adjusted.get(key),
                mean_difference=test.mean_difference if test else None,
            )
            for key, (topics, test) in tests.items()
        ],
        dimensions=list(between_dimensions(grades)),
        references=list(against_best(grades)),
        left_out=left_out,
    )


def _mean(dimension: str, within: str, group: str, topics: dict[str, list[float]]) -> GroupMean:
    values = [grade for own in topics.values() for grade in own]
    deviation = statistics.stdev(values) if len(values) > 1 else None
    return GroupMean(
        dimension=dimension,
        within=within,
        group=group,
        items=len(values),
        mean=statistics.fmean(values),
        deviation=deviation,
    )
