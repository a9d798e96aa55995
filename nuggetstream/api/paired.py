"""Two measurements of the same items, tested and drawn, and p-values of many tests."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeAlias

from nuggetstream.api.sources import in_python
from nuggetstream.domain.inputs import VALUES, Kind, check_kind, is_mark, is_missing
from nuggetstream.figures.charts import label
from nuggetstream.figures.drawn import Drawn, DrawnTable
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.measurements import limits_figure
from nuggetstream.files import tables
from nuggetstream.files.numerals import level as as_percent
from nuggetstream.files.numerals import many, number
from nuggetstream.files.tables import Table
from nuggetstream.statistics.bland_altman import LimitsOfAgreement, bland_altman
from nuggetstream.statistics.paired import PairedTest, paired_t, wilcoxon
from nuggetstream.statistics.paired import benjamini_hochberg as adjusted

Measured: TypeAlias = Mapping[Any, float | None] | Iterable[float | None]
_EXPECTED = "one number per item: a list, an array, a column of a frame, or a dictionary by item"


@dataclass(frozen=True, slots=True, repr=False)
class Paired(Drawn):
    """Two measurements of the same items. As a table: one row of tests. As a figure: Bland and Altman's plot.

    Attributes:
        items: Items with both numbers: keys, or positions from 0.
        first: (n,) first number of each item.
        second: (n,) second number of each item.
        only_first: Items with the first number only.
        only_second: Items with the second number only.
        neither: Items that are there without a number.
        t: Student's paired t-test; None with fewer than 2 pairs, or where all differences are the same.
        wilcoxon: Wilcoxon's signed-rank test; None where no pair differs.
        limits: Mean difference with its interval, and limits of agreement; None with fewer than 3 pairs.
        level: Confidence level of the intervals, and of the limits.
    """

    items: tuple[Hashable, ...]
    first: tuple[float, ...]
    second: tuple[float, ...]
    only_first: tuple[Hashable, ...]
    only_second: tuple[Hashable, ...]
    neither: tuple[Hashable, ...]
    t: PairedTest | None
    wilcoxon: PairedTest | None
    limits: LimitsOfAgreement | None = field(compare=False)  # holds arrays, and follows from the others
    level: float

    @property
    def mean_difference(self) -> float:
        """Mean of first minus second."""
        return (sum(self.first) - sum(self.second)) / len(self.items)

    def table(self) -> DrawnTable:
        """One row: the pairs, their mean difference, and two tests of no difference."""
        columns = (
            tables.count("pairs"),
            tables.count("only_first"),
            tables.count("only_second"),
            tables.number("mean_difference", digits=3),
            tables.interval("low", "high", f"{as_percent(self.level)} interval", digits=3),
            tables.number("t"),
            tables.p_value("t_p_value", "p (t)"),
            tables.number("w", digits=1),
            tables.p_value("w_p_value", "p (Wilcoxon)"),
        )
        row = (
            len(self.items),
            len(self.only_first),
            len(self.only_second),
            self.mean_difference,
            None if self.limits is None else self.limits.bias_interval,
            *((None, None) if self.t is None else (self.t.statistic, self.t.p_value)),
            *((None, None) if self.wilcoxon is None else (self.wilcoxon.statistic, self.wilcoxon.p_value)),
        )
        return DrawnTable("Paired tests", columns, (row,), self._notes(), drawing=self._limits_figure)

    def _notes(self) -> tuple[str, ...]:
        lost = len(self.only_first) + len(self.only_second) + len(self.neither)
        sentence = (
            (lost, f"{many(lost, 'item')} without both numbers, left out."),
            (self.t is None, "No t: there are fewer than 2 pairs, or all differences are the same."),
            (self.wilcoxon is None, "No Wilcoxon test: no pair differs."),
            (self.limits is None, "No interval: there are fewer than 3 pairs."),
        )
        return tuple(words for applies, words in sentence if applies)

    def _limits_figure(self) -> Figure:
        limits = self.limits
        points = [
            (str(item), one, other)
            for item, one, other in zip(self.items, self.first, self.second, strict=True)
        ]
        return limits_figure(
            f"First minus second, {many(len(points), 'pair')}: {as_percent(self.level)} limits of agreement",
            points,
            (None, None, None) if limits is None else (limits.bias, limits.low, limits.high),
            [f"{label(item)}: {number(one)} and {number(other)}" for item, one, other in points],
            axes=("mean of both", "first minus second"),
        )


@dataclass(frozen=True, slots=True, repr=False)
class AdjustedTests(Drawn):
    """p-values of many tests, adjusted for their number. As a table: one row per test.

    Attributes:
        p_values: By the name of the test; None where a test has none.
        adjusted: Adjusted p-values in [0, 1]; None where there is no p-value.
    """

    p_values: Mapping[str, float | None]
    adjusted: Mapping[str, float | None]

    def __getitem__(self, test: str) -> float | None:
        return self.adjusted[test]

    def table(self) -> Table:
        """One row per test."""
        columns = (
            tables.text("test"),
            tables.p_value("p_value", "p"),
            tables.p_value("adjusted", "adjusted p"),
        )
        rows = tuple((name, given, self.adjusted[name]) for name, given in self.p_values.items())
        lost = sum(given is None for given in self.p_values.values())
        notes = (f"{many(lost, 'test')} without a p-value, left out.",) if lost else ()
        return Table("Benjamini and Hochberg's adjusted p-values", columns, rows, notes)


@in_python
def paired(first: Measured, second: Measured, *, level: float = 0.95) -> Paired:
    """Do two measurements of the same items differ? Student's paired t, Wilcoxon's test, limits of agreement.

    t = mean / (sd / √n) of the differences; W = the smaller sum of the ranks of positive and of negative
    differences; limits of agreement = mean ± z · sd.

    Args:
        first: Numbers by item, in a dictionary; or one per item, in a list, an array or a frame's column.
            None, NaN and texts such as "NA" are missing.
        second: Numbers of the same items: by the same keys, or in the same order.
        level: Confidence level of the interval of the mean difference, and of the limits, in (0, 1).

    Returns:
        Both two-sided tests and the differences, first minus second. Items without both numbers are left out
        and counted.

    Raises:
        TypeError: One is a dictionary and the other is not, or one is a path, a DataFrame or the like.
        ValueError: The lists have different lengths, a value is no finite number, no item has both, or the
            level is out of range.

    Source: Student, 1908; Wilcoxon, 1945; Bland and Altman, 1986.

    >>> scores = paired({"q1": 1, "q2": 2, "q3": 3, "q4": 9}, {"q1": 0, "q2": 0, "q3": 0, "q4": None})
    >>> len(scores.items), round(scores.t.statistic, 3), scores.wilcoxon.p_value, scores.only_first
    (3, 3.464, 0.25, ('q4',))
    """
    for name, given in (("first", first), ("second", second)):
        check_kind(name, given, VALUES | {Kind.MAPPING}, _EXPECTED)
    if isinstance(first, Mapping) != isinstance(second, Mapping):
        raise TypeError("first and second: expected two dictionaries, or two lists of the same items")
    if not 0 < level < 1:
        raise ValueError(f"level: is {level}; expected a number between 0 and 1")
    ours, theirs = _numbers(first, "first"), _numbers(second, "second")
    if not isinstance(first, Mapping) and len(ours) != len(theirs):
        raise ValueError(f"first has {len(ours)} numbers and second {len(theirs)}")
    every = {item: (ours.get(item), theirs.get(item)) for item in {**ours, **theirs}}
    pairs = {item: (x, y) for item, (x, y) in every.items() if x is not None and y is not None}
    if not pairs:
        raise ValueError("no item has a number in both")
    x, y = (tuple(numbers) for numbers in zip(*pairs.values(), strict=True))
    return Paired(
        items=tuple(pairs),
        first=x,
        second=y,
        only_first=tuple(item for item, (x, y) in every.items() if y is None and x is not None),
        only_second=tuple(item for item, (x, y) in every.items() if x is None and y is not None),
        neither=tuple(item for item, numbers in every.items() if numbers == (None, None)),
        t=paired_t(x, y),
        wilcoxon=wilcoxon(x, y),
        limits=bland_altman(x, y, level) if len(pairs) > 2 else None,
        level=level,
    )


@in_python
def benjamini_hochberg(tests: Mapping[str, float | PairedTest | None]) -> AdjustedTests:
    """p-values adjusted for their number: rejecting at "≤ q" keeps the false discovery rate at q.

    adjusted(i) = min over j ≥ i of p(j) · m / j, with p(1) ≤ … ≤ p(m).

    Args:
        tests: p-values by the name of the test, or tests of `paired`. A test without a p-value is None: it is
            left out, and not a p-value of 1.

    Returns:
        Adjusted p-values, each at least the p-value itself.

    Raises:
        NotAccepted: The tests have no names: a list, a path, a frame.
        ValueError: A p-value is outside [0, 1].

    Source: Benjamini and Hochberg, 1995.

    >>> benjamini_hochberg({"x": 0.01, "y": 0.04, "z": 0.03, "none": None}).adjusted
    {'x': 0.03, 'y': 0.04, 'z': 0.04, 'none': None}
    """
    check_kind("tests", tests, (Kind.MAPPING,), "p-values by the name of the test, in a dictionary")
    given = {
        str(name): test.p_value if isinstance(test, PairedTest) else test for name, test in tests.items()
    }
    p_values = {name: None if is_missing(p) else p for name, p in given.items()}
    by_name = adjusted({name: p for name, p in p_values.items() if p is not None})
    return AdjustedTests(p_values, {name: by_name.get(name) for name in p_values})


def _numbers(given: Measured, name: str) -> dict[Any, float | None]:
    items = given.items() if isinstance(given, Mapping) else enumerate(given)
    return {
        item: None
        if is_missing(value) or (isinstance(value, str) and is_mark(value))
        else _number(value, f"{name}, item {item!r}")
        for item, value in items
    }


def _number(value: object, location: str) -> float:
    try:
        number = float("nan" if isinstance(value, str) else value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not isfinite(number):
        raise ValueError(f"{location}: is {value!r}; expected a number")
    return number
