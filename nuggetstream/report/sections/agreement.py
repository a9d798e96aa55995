"""Agreement: does the machine agree with people more often than the length of an answer does?"""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.numerals import MISSING, integer, many, number, part_of, percent, percent_interval
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    SKY,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
    share_axis,
    vertical_line,
)
from nuggetstream.report.section import Content, Part
from nuggetstream.report.summary import AgreementRow, agreement_row, predict
from nuggetstream.report.wording import FEW_NOTE, NO_PREFERENCE, dimension_name, few_mark

_LOOKS = {
    "nugget preference": (BLUE, "diamond"),
    "grounded nuggets": (SKY, "diamond-open"),
    "judge": (GREEN, "square"),
    "longer answer wins": (GREY, "triangle-up"),
    "ROUGE-L to evidence": (PURPLE, "x"),
}
_SYMBOLS = ("square", "cross", "star", "circle")
_ROW = 56


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


def compute(results: Results) -> tuple[Predicted, ...]:
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


def draw(predicted: Sequence[Predicted]) -> Content:
    """Share of human decisions that each predictor agrees with."""
    known = [prediction for prediction in predicted if prediction.row.agreement.share is not None]
    blocks: list[Block] = [Figures.of(_chart(known))] if known else []
    blocks.append(_table(predicted) if predicted else NotMeasured("agreement with people", NO_PREFERENCE))
    return Content(
        findings=_findings(known),
        reading="The share of human decisions that each predictor agrees with. A predicted tie counts "
        "half; battles that people call a tie are left out. Tossing a coin would agree 50% of the time. "
        "Lines are 95% intervals from resampling whole queries, because battles on one query are not "
        "independent. Where all queries agree to the same degree, resampling shows no spread, and the "
        "interval is Wilson's. A predictor that does no better than “longer answer wins” shows no "
        "understanding of the answers.",
        basis=_basis(predicted),
        blocks=tuple(blocks),
    )


def _basis(predicted: Sequence[Predicted]) -> str:
    if not predicted:
        return "0 battles"
    first = predicted[0]
    compared = part_of(first.row.agreement.compared, first.received, "battles")
    return f"{compared}, on {many(first.queries, 'query', 'queries')}"


def _findings(known: Sequence[Predicted]) -> tuple[str, ...]:
    if not known:
        return ()
    dimension = known[0].row.dimension
    shares = [
        f"{prediction.row.predictor} {percent(prediction.row.agreement.share)}"
        for prediction in known
        if prediction.row.dimension == dimension
    ]
    return (f"Agreement on {dimension_name(dimension)}: {', '.join(shares)}.",)


def _chart(known: Sequence[Predicted]) -> Figure:
    dimensions = list(dict.fromkeys(prediction.row.dimension for prediction in known))
    traces = []
    looks = _looks([prediction.row.predictor for prediction in known])
    for index, (predictor, (colour, symbol)) in enumerate(looks.items()):
        own = [prediction for prediction in known if prediction.row.predictor == predictor]
        bounds = [_bounds(prediction) for prediction in own]
        traces.append(
            marks_with_intervals(
                predictor,
                [prediction.row.agreement.share or 0.0 for prediction in own],
                [
                    dimensions.index(prediction.row.dimension) + offset(index, len(looks))
                    for prediction in own
                ],
                [low for low, _ in bounds],
                [high for _, high in bounds],
                marker={"color": colour, "symbol": symbol, "size": 10},
                customdata=[prediction.row.agreement.compared for prediction in own],
                hovertemplate="%{x:.1%} of %{customdata} battles",
            )
        )
    alt = "; ".join(
        f"{prediction.row.dimension}, {prediction.row.predictor}: {percent(prediction.row.agreement.share)}"
        for prediction in known
    )
    layout = {
        "yaxis": names_axis([dimension_name(name) for name in dimensions]),
        "xaxis": share_axis("share of human decisions agreed with"),
        "shapes": [vertical_line(0.5)],
    }
    return figure("Agreement with human decisions", alt, traces, rows_height(len(dimensions), _ROW), layout)


def _looks(predictors: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The colour and the symbol of each predictor; those of several judges differ by their symbols."""
    judges = [name for name in dict.fromkeys(predictors) if name not in _LOOKS]
    own = {name: (GREEN, _SYMBOLS[index % len(_SYMBOLS)]) for index, name in enumerate(judges)}
    return {name: look for name, look in (_LOOKS | own).items() if not judges or name != "judge"}


def _bounds(prediction: Predicted) -> tuple[float | None, float | None]:
    return (
        (prediction.row.agreement.low, prediction.row.agreement.high)
        if prediction.has_interval
        else (None, None)
    )


def _table(predicted: Sequence[Predicted]) -> Table:
    columns = (
        "dimension",
        "predictor",
        "agreement",
        "95% interval",
        "weighted kappa",
        "compared of labelled",
        "tied",
        "unscored",
    )
    note = (
        "Tied: battles compared in which the predictor sees a tie. Unscored: labelled battles for which it "
        f"has no prediction. Kappa counts human ties too. {FEW_NOTE}"
    )
    return Table(
        caption="All predictors",
        columns=columns,
        rows=[_row(prediction) for prediction in predicted],
        note=note,
        text_columns=(1,),
        folded=True,
    )


def _row(prediction: Predicted) -> tuple[str, ...]:
    row, agreement = prediction.row, prediction.row.agreement
    return (
        dimension_name(row.dimension),
        row.predictor,
        f"{percent(agreement.share)}{few_mark(agreement.compared)}",
        percent_interval(agreement.low, agreement.high) if prediction.has_interval else MISSING,
        number(row.kappa, 2),
        part_of(agreement.compared, prediction.labelled),
        integer(agreement.predicted_ties),
        integer(row.unscored),
    )


PART = Part("agreement", compute, draw)
