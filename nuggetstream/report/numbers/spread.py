"""How a quantity varies: its mean, quartiles and range."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Spread:
    """A quantity per battle or per nugget, over `cases` of them."""

    cases: int
    mean: float
    low: float
    quarter: float
    median: float
    three_quarters: float
    high: float


def spread(values: Sequence[float]) -> Spread | None:
    """Mean, quartiles and range; None without a value."""
    if not values:
        return None
    low, quarter, median, three_quarters, high = np.quantile(values, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Spread(
        cases=len(values),
        mean=float(np.mean(values)),
        low=low,
        quarter=quarter,
        median=median,
        three_quarters=three_quarters,
        high=high,
    )
