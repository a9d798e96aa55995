"""Agreement: does the machine agree with people more often than the length of an answer does?"""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.results import Results
from nuggetstream.report.summary import AgreementRow, agreement_row, predict


@dataclass(frozen=True, slots=True)
class Predicted:
    """One predictor against one human dimension.

    Attributes:
        queries: Distinct queries among the labelled battles that the predictor scored and people decided;
            the interval resamples whole queries, so a single query gives none.
        labelled: Battles with this dimension.
        received: All battles.
        row: Agreement, interval, kappa and counts.
        has_interval: Whether the interval means anything.
    """

    queries: int
    labelled: int
    received: int
    row: AgreementRow
    has_interval: bool


def compute_agreement(results: Results) -> tuple[Predicted, ...]:
    """Every predictor against every human dimension, in the order of the dimensions."""
    predictions = predict(results.battles) if results.dimensions else {}
    return tuple(
        _predicted(results, dimension, predictor, votes)
        for dimension in results.dimensions
        for predictor, votes in predictions.items()
    )


def _predicted(results: Results, dimension: str, predictor: str, votes: Sequence[Vote | None]) -> Predicted:
    row = agreement_row(results.battles, dimension, predictor, votes)
    labelled = [
        (battle, vote)
        for battle, vote in zip(results.battles, votes, strict=True)
        if dimension in battle.preferences
    ]
    queries = {
        battle.query
        for battle, vote in labelled
        if not battle.preferences[dimension].is_tie and vote is not None
    }
    return Predicted(
        queries=len(queries),
        labelled=len(labelled),
        received=results.received,
        row=row,
        has_interval=len(queries) > 1 and row.agreement.share is not None,
    )
