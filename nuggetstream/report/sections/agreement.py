"""Agreement with people, beside preferences that know nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from nuggetstream.domain.battle import Vote
from nuggetstream.files.numerals import MISSING
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    BLUE,
    GREEN,
    GREY,
    PURPLE,
    figure,
    marks_with_intervals,
    names_axis,
    offset,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content, Section
from nuggetstream.report.summary import AgreementRow, agreement_row, predict
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, dimension_name, number, of, percent, span, whole
from nuggetstream.statistics.share import FEW

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
        if battle.preferences[dimension] not in TIES and vote is not None
    }
    has_interval = len(queries) > 1 and row.agreement.share is not None
    return Predicted(len(queries), len(labelled), results.received, row, has_interval)


_LOOKS = {
    "nugget preference": (BLUE, "diamond"),
    "judge": (GREEN, "square"),
    "longer answer wins": (GREY, "triangle-up"),
    "ROUGE-L to evidence": (PURPLE, "x"),
}
_ROW = 56


def draw(found: Sequence[Predicted]) -> Content:
    """Share of human decisions each predictor agrees with."""
    known = [each for each in found if each.row.agreement.share is not None]
    blocks: list[Block] = [Figures("", {"": (_chart(known),)})] if known else []
    blocks.append(_table(found) if found else State("No battle has a human preference: nothing to compare."))
    return Content(
        finding=_finding(known),
        reading="The share of human decisions that each predictor shares. A predicted tie counts half; "
        "battles that people call a tie are left out. A coin is at 50%. Lines are 95% intervals from "
        "resampling whole queries, because battles on one query are not independent; where all queries "
        "agree alike, resamples show no spread, and the interval is Wilson's. A machine that does not beat "
        "“longer answer wins” has shown nothing.",
        basis=_basis(found),
        blocks=tuple(blocks),
    )


def _basis(found: Sequence[Predicted]) -> str:
    if not found:
        return "0 battles"
    return f"{of(found[0].row.agreement.compared, found[0].received)}, {_on(found[0].queries)}"


def _on(queries: int) -> str:
    return "on 1 query" if queries == 1 else f"on {whole(queries)} queries"


def _finding(known: Sequence[Predicted]) -> str:
    if not known:
        return ""
    first = known[0].row.dimension
    own = [each.row for each in known if each.row.dimension == first]
    said = ", ".join(f"{row.predictor} {percent(row.agreement.share)}" for row in own)
    return f"On {dimension_name(first)}: {said}."


def _chart(known: Sequence[Predicted]) -> Figure:
    dimensions = list(dict.fromkeys(each.row.dimension for each in known))
    traces = []
    for place, (name, (colour, symbol)) in enumerate(_LOOKS.items()):
        own = [each for each in known if each.row.predictor == name]
        shares = [each.row.agreement.share or 0.0 for each in own]
        ends = [_ends(each) for each in own]
        traces.append(
            marks_with_intervals(
                name,
                shares,
                [dimensions.index(each.row.dimension) + offset(place, len(_LOOKS)) for each in own],
                [low for low, _ in ends],
                [high for _, high in ends],
                marker={"color": colour, "symbol": symbol, "size": 10},
                customdata=[each.row.agreement.compared for each in own],
                hovertemplate="%{x:.1%} of %{customdata} battles",
            )
        )
    alt = "; ".join(
        f"{each.row.dimension}, {each.row.predictor}: {percent(each.row.agreement.share)}" for each in known
    )
    coin = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "yaxis": names_axis([dimension_name(name) for name in dimensions]),
        "xaxis": share_axis("share of human decisions agreed with"),
        "shapes": [{**coin, "line": {"color": GREY, "dash": "dot", "width": 1.5}}],
    }
    return figure("Agreement with human decisions", alt, traces, rows_height(len(dimensions), _ROW), layout)


def _ends(each: Predicted) -> tuple[float, float]:
    found, at = each.row.agreement, each.row.agreement.share or 0.0
    if not each.has_interval:
        return at, at
    return (at if found.low is None else found.low), (at if found.high is None else found.high)


def _table(found: Sequence[Predicted]) -> Table:
    columns = (
        "dimension",
        "predictor",
        "agreement",
        "95%",
        "kappa",
        "compared of labelled",
        "tied",
        "unscored",
    )
    note = f"Tied: ties of the predictor among the compared. Kappa counts human ties too. {FEW_NOTE}"
    return Table("All predictors", columns, [_row(each) for each in found], note, (1,), folded=True)


def _row(each: Predicted) -> tuple[str, ...]:
    row, found = each.row, each.row.agreement
    mark = f" {FEW_MARK}" if found.share is not None and found.compared < FEW else ""
    return (
        dimension_name(row.dimension),
        row.predictor,
        f"{percent(found.share)}{mark}",
        span(found.low, found.high) if each.has_interval else MISSING,
        number(row.kappa),
        of(found.compared, each.labelled, ""),
        whole(found.predicted_ties),
        whole(row.unscored),
    )


SECTION = Section(
    name="agreement",
    title="Agreement with people, beside baselines",
    question="Does the machine know more than the length of an answer?",
    compute=compute,
    draw=draw,
)
