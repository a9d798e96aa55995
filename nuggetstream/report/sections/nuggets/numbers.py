"""The nuggets themselves: how many, how vital, how often stated, how different from each other."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from nuggetstream.domain.nugget import Importance, Support
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.report.sections.nuggets.grounding import Grounding, grounding
from nuggetstream.text.statistics import nugget_diversity

NO_LABEL = "no label"
LABELS = (Support.SUPPORT.value, Support.PARTIAL_SUPPORT.value, Support.NOT_SUPPORT.value, NO_LABEL)


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity per battle: mean, quartiles and range over `battles`."""

    battles: int
    mean: float
    low: float
    quarter: float
    median: float
    three_quarters: float
    high: float


@dataclass(frozen=True, slots=True)
class Nuggets:
    """Nuggets of all battles that have any.

    Attributes:
        received: battles.
        battles: with at least one nugget.
        total: nuggets.
        count: nuggets per battle.
        histogram: nuggets per battle -> battles.
        vital: share of vital nuggets per battle.
        diversity: per battle, 1 minus the mean Jaccard similarity of the term sets of any two nuggets;
            1 means no term in common. Over battles with at least two nuggets.
        cosine: per such battle, the mean cosine similarity of how often each term occurs in any two.
        labels: importance -> label -> how often; two labels per nugget, one for each answer.
        grounding: how close they are to the passages they were read from.
    """

    received: int
    battles: int
    total: int
    count: Spread | None
    histogram: dict[int, int]
    vital: Spread | None
    diversity: Spread | None
    cosine: Spread | None
    labels: dict[str, dict[str, int]]
    grounding: Grounding


def compute(results: Results) -> Nuggets:
    """Statistics over all nuggets."""
    rows = [row for row in results.battles if row.nuggets]
    alike = [found for row in rows if (found := nugget_diversity([each.text for each in row.nuggets]))]
    labels = {each.value: dict.fromkeys(LABELS, 0) for each in Importance}
    for nugget in (nugget for row in rows for nugget in row.nuggets):
        for label in (nugget.a, nugget.b):
            labels[nugget.importance.value][label.support.value if label else NO_LABEL] += 1
    return Nuggets(
        received=results.received,
        battles=len(rows),
        total=sum(len(row.nuggets) for row in rows),
        count=_spread([len(row.nuggets) for row in rows]),
        histogram=dict(sorted(Counter(len(row.nuggets) for row in rows).items())),
        vital=_spread([_vital(row) for row in rows]),
        diversity=_spread([1 - found.jaccard for found in alike]),
        cosine=_spread([found.cosine for found in alike]),
        labels=labels,
        grounding=grounding(rows),
    )


def _vital(row: BattleRow) -> float:
    return sum(nugget.importance is Importance.VITAL for nugget in row.nuggets) / len(row.nuggets)


def _spread(values: list[float] | list[int]) -> Spread | None:
    if not values:
        return None
    low, quarter, median, three_quarters, high = map(float, np.quantile(values, [0, 0.25, 0.5, 0.75, 1]))
    return Spread(len(values), float(np.mean(values)), low, quarter, median, three_quarters, high)
