"""Agreement with people, beside baselines.

Do nuggets and the judge agree with people more often than the length of an answer does?
"""

from collections.abc import Sequence

from nuggetstream.figures.charts import (
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
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.matrices import confusion_matrix
from nuggetstream.files.numerals import MISSING, integer, many, number, part_of, percent, percent_interval
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.drawings.scorers import draw as draw_scorers
from nuggetstream.report.numbers.agreement import Predicted, compute_agreement
from nuggetstream.report.numbers.confusion import Confusion, compute_confusion
from nuggetstream.report.numbers.scorers import compute_scorers
from nuggetstream.report.section import Content, Part, Section
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
_NAMES = ["A", "tie", "B"]


def draw_agreement(predicted: Sequence[Predicted]) -> Content:
    """Share of human decisions that each predictor agrees with."""
    measured = [prediction for prediction in predicted if prediction.row.agreement.share is not None]
    blocks: list[Block] = [Figures.of(_chart(measured))] if measured else []
    blocks.append(
        _agreement_table(predicted) if predicted else NotMeasured("agreement with people", NO_PREFERENCE)
    )
    return Content(
        findings=_agreement_findings(measured),
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


def _agreement_findings(measured: Sequence[Predicted]) -> tuple[str, ...]:
    if not measured:
        return ()
    dimension = measured[0].row.dimension
    own = [prediction for prediction in measured if prediction.row.dimension == dimension]
    shares = [
        f"{prediction.row.predictor} {percent(prediction.row.agreement.share)}"
        for prediction in own
        if _is_above_chance(prediction)
    ]
    others = [prediction.row.predictor for prediction in own if not _is_above_chance(prediction)]
    parts = [f"Agreement on {dimension_name(dimension)}: {', '.join(shares)}"] if shares else []
    if others:
        parts.append(f"not shown to be above chance: {', '.join(others)}")
    if not shares:
        parts = [f"On {dimension_name(dimension)}, no predictor is shown to agree with people above chance"]
    return (f"{'; '.join(parts)}.",)


def _is_above_chance(prediction: Predicted) -> bool:
    return prediction.has_interval and prediction.row.agreement.is_above_chance


def _chart(measured: Sequence[Predicted]) -> Figure:
    dimensions = list(dict.fromkeys(prediction.row.dimension for prediction in measured))
    traces = []
    looks = _looks([prediction.row.predictor for prediction in measured])
    for index, (predictor, (colour, symbol)) in enumerate(looks.items()):
        own = [prediction for prediction in measured if prediction.row.predictor == predictor]
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
    return figure(
        "Agreement with human decisions",
        alt="; ".join(
            f"{row.dimension}, {row.predictor}: {percent(row.agreement.share)}"
            for row in (prediction.row for prediction in measured)
        ),
        traces=traces,
        height=rows_height(len(dimensions), _ROW),
        layout={
            "yaxis": names_axis([dimension_name(name) for name in dimensions]),
            "xaxis": share_axis("share of human decisions agreed with"),
            "shapes": [vertical_line(0.5)],
        },
    )


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


def _agreement_table(predicted: Sequence[Predicted]) -> Table:
    return Table(
        caption="All predictors",
        columns=(
            "dimension",
            "predictor",
            "agreement",
            "95% interval",
            "weighted kappa",
            "compared of labelled",
            "tied",
            "unscored",
        ),
        rows=[_row(prediction) for prediction in predicted],
        note="Tied: battles compared in which the predictor sees a tie. Unscored: labelled battles for which "
        f"it has no prediction. Kappa counts human ties too. {FEW_NOTE}",
        text_columns=(1,),
        folded=True,
    )


def _row(prediction: Predicted) -> tuple[str, ...]:
    row, agreement = prediction.row, prediction.row.agreement
    return (
        dimension_name(row.dimension),
        row.predictor,
        f"{percent(agreement.share)}{few_mark(agreement.compared)}",
        _interval(prediction),
        number(row.kappa, 2),
        part_of(agreement.compared, prediction.labelled),
        integer(agreement.predicted_ties),
        integer(row.unscored),
    )


def _interval(prediction: Predicted) -> str:
    if not prediction.has_interval:
        return MISSING
    shown = percent_interval(prediction.row.agreement.low, prediction.row.agreement.high)
    return shown if _is_above_chance(prediction) else f"{shown}, not above chance"


def draw_confusion(confusions: Sequence[Confusion]) -> Content:
    """A pair of matrices per human dimension, and kappa for all of them."""
    options: dict[str, tuple[Figure, ...]] = {}
    for confusion in confusions:
        if confusion.compared:
            name = dimension_name(confusion.dimension)
            options[name] = (*options.get(name, ()), _matrix(confusion))
    blocks: list[Block] = [Figures("Human dimension", options)] if options else []
    blocks.append(
        _confusion_table(confusions) if confusions else NotMeasured("confusion matrices", NO_PREFERENCE)
    )
    compared = (
        f"{of_lens.lens} {part_of(of_lens.compared, of_lens.received, 'battles')}"
        for of_lens in confusions[:2]
    )
    return Content(
        findings=_confusion_findings(confusions),
        reading="Rows are what people say, columns what the lens says. The diagonal is agreement; the "
        "corners off the diagonal are inversions. Weighted kappa is agreement beyond chance: 1 is perfect, "
        "0 is what chance gives. Confusing A with B costs four times as much as confusing either with a "
        "tie.",
        basis=", ".join(compared) or "0 battles",
        blocks=tuple(blocks),
    )


def _confusion_findings(confusions: Sequence[Confusion]) -> tuple[str, ...]:
    kappas = [
        f"{number(confusion.kappa, 2)} for the {confusion.lens} lens"
        for confusion in confusions[:2]
        if confusion.kappa is not None
    ]
    if not kappas:
        return ()
    return (f"On {dimension_name(confusions[0].dimension)}, weighted kappa is {' and '.join(kappas)}.",)


def _matrix(confusion: Confusion) -> Figure:
    compared = part_of(confusion.compared, confusion.labelled, "battles")
    title = f"{confusion.lens.capitalize()} lens: kappa {number(confusion.kappa, 2)}, {compared}"
    return confusion_matrix(title, _NAMES, confusion.counts, "people", f"{confusion.lens} lens")


def _confusion_table(confusions: Sequence[Confusion]) -> Table:
    return Table(
        caption="Kappa per dimension",
        columns=(
            "dimension",
            "lens",
            "weighted kappa",
            "same preference",
            "compared of labelled",
            "human ties",
        ),
        rows=[
            (
                dimension_name(confusion.dimension),
                confusion.lens,
                number(confusion.kappa, 2),
                percent(confusion.same / confusion.compared if confusion.compared else None),
                part_of(confusion.compared, confusion.labelled),
                integer(sum(confusion.counts[1])),
            )
            for confusion in confusions
        ],
        note="A dash for kappa: nothing was compared, or all votes fall into one category, so that kappa is "
        "undefined.",
        text_columns=(1,),
        folded=True,
    )


SECTION = Section(
    name="agreement",
    title="Agreement with people, beside baselines",
    question="Do nuggets and the judge agree with people more often than the length of an answer does?",
    parts=(
        Part("agreement", compute_agreement, draw_agreement),
        Part("confusion", compute_confusion, draw_confusion),
        Part("scorers", compute_scorers, draw_scorers),
    ),
)
