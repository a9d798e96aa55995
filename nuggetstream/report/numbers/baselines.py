"""Agreement with people, beside preferences that know nothing."""

from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.report.rows import Results
from nuggetstream.report.summary import PREDICTORS, AgreementRow

TIES = (Vote.TIE, Vote.BOTH_BAD)


@dataclass(frozen=True, slots=True)
class Predicted:
    """One predictor against one human dimension.

    Attributes:
        queries: distinct queries among the labelled battles that the predictor scored and people decided;
            the interval draws whole queries, so with one there is none.
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
    says = PREDICTORS[row.predictor]
    compared = (
        battle
        for battle in labelled
        if battle.reference[row.dimension] not in TIES and says(battle) is not None
    )
    queries = len({battle.query for battle in compared})
    has_interval = queries > 1 and row.agreement.share is not None
    return Predicted(queries, len(labelled), results.received, row, has_interval)
