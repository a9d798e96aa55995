"""Agreement with people, beside preferences that know nothing."""

from dataclasses import dataclass

from services.analysis.report.rows import Results
from services.analysis.summary import AgreementRow


@dataclass(frozen=True, slots=True)
class Predicted:
    """One predictor against one human dimension.

    Attributes:
        queries: distinct queries among the labelled battles; the interval draws whole queries, so
            with one there is none.
        labelled: battles with this dimension.
        received: all battles.
        row: agreement, interval, kappa and counts.
        has_interval: whether the interval means anything.
    """

    queries: int
    labelled: int
    received: int
    row: AgreementRow
    has_interval: bool


def compute(results: Results) -> tuple[Predicted, ...]:
    """Every predictor against every human dimension, in the order of the dimensions."""
    rows = sorted(results.summary.agreements, key=lambda row: results.dimensions.index(row.dimension))
    return tuple(_one(results, row) for row in rows)


def _one(results: Results, row: AgreementRow) -> Predicted:
    labelled = [battle for battle in results.battles if row.dimension in battle.reference]
    queries = len({battle.query for battle in labelled})
    has_interval = queries > 1 and row.agreement.share is not None
    return Predicted(queries, len(labelled), results.received, row, has_interval)
