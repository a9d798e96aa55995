"""Numbers about the battles of two sources of votes, with intervals that resample whole queries."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.grouping import grouped
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.table_data import Cell
from nuggetstream.statistics.agreement import confusion_of, kappa_interval, share_interval, weighted_kappa
from nuggetstream.statistics.share import Share

_SEED = 791
Case = tuple[BattleRow, Vote, Vote]  # a battle, and the votes of two sources


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95% interval.

    Attributes:
        value: The number.
        low: Lower bound; None where all resamples are alike, which is no certainty.
        high: Upper bound; None where the lower one is.
    """

    value: float
    low: float | None
    high: float | None


def interval_cells(estimate: Estimate | Share | None) -> tuple[Cell, Cell]:
    """A number and its interval as two cells of a table."""
    return (None, (None, None)) if estimate is None else (estimate.value, (estimate.low, estimate.high))


def kappa_of(cases: Sequence[Case]) -> Estimate | None:
    """Quadratically weighted kappa of two sources of votes, with its interval; None where it is undefined."""
    by_query = grouped((case[0].query, case) for case in cases)
    tables = [confusion_of([x for _, x, _ in own], [y for *_, y in own]) for own in by_query.values()]
    return kappa_of_tables(np.array(tables)) if tables else None


def kappa_of_tables(tables: NDArray[np.float64]) -> Estimate | None:
    """The same of (queries, k, k) counts, one table per query."""
    value = weighted_kappa(tables.sum(axis=0))
    return None if value is None else Estimate(value, *(kappa_interval(tables, rng()) or (None, None)))


def equal_votes(cases: Sequence[Case]) -> Estimate:
    """The share of the cases in which both sources have the same preference, with its interval."""
    return equal_share([(battle.query, x.preference is y.preference) for battle, x, y in cases])


def equal_share(cases: Sequence[tuple[str, bool]]) -> Estimate:
    """The share of the cases that are equal, each given with its query."""
    hits = np.array([float(equal) for _, equal in cases])
    return Estimate(float(hits.mean()), *share_interval(hits, [query for query, _ in cases], rng()))


def rng() -> np.random.Generator:
    """The randomness of all intervals, the same in every run."""
    return np.random.default_rng(_SEED)
