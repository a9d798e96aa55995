"""The three scorers against each other."""

from collections.abc import Sequence

import plotly.graph_objects as go

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREY, figure, label
from nuggetstream.report.section import Content
from nuggetstream.report.sections.scorers.numbers import JudgeOrder, Limits, Scorers
from nuggetstream.report.wording import (
    dimension_name,
    number,
    of,
    p_value,
    percent,
    whole,
)

_UNKNOWN = "People: the results do not say which answer they were shown first, so no order effect is known."
_NAMED = 12  # systems; more names than these would cover each other


def draw(found: Scorers) -> Content:
    """Kappa per battle, Bland-Altman per system, order effects per judge."""
    known = [each for each in found.limits if each.missing is None]
    charts = {_pair(each): (_chart(each),) for each in known}
    blocks: list[Block] = [_alike(found)]
    if charts:
        blocks += [Figures("Scorers", charts, _NOTE), _points(known)]
    blocks += [State(f"{_pair(each)}: {each.missing}.") for each in found.limits if each.missing]
    blocks.append(_orders(found.orders) if found.orders else State("No judge was asked: no order effect."))
    blocks.append(State(_UNKNOWN))
    return Content(
        finding=_finding(found),
        reading="Weighted kappa compares two scorers battle by battle: 1 is perfect, 0 is chance. The plot "
        "is Bland and Altman's: each system's share of points by one scorer minus its share by the other, "
        "over the battles that both scored; about 95% of systems lie between the dashed lines. People and "
        "judge give votes and nuggets a margin, which is no common unit battle by battle, so the plot "
        "compares systems. An order effect is there when the answer shown first wins clearly more or less "
        "than half of the time, or when agreement with people depends on the order.",
        basis=", ".join(f"{x.first}–{x.second} {whole(x.compared)}" for x in found.alike)
        + f" of {whole(found.received)} battles",
        blocks=tuple(blocks),
    )


_NOTE = (
    "Every point that one system gains another loses, so the mean difference is near zero by itself: look at "
    "the width, and at who lies on which side."
)


def _pair(each: Limits) -> str:
    return f"{each.first} and {each.second}"


def _finding(found: Scorers) -> str:
    known = [each for each in found.alike if each.kappa is not None]
    parts = [f"{number(x.kappa)} for {x.first} and {x.second}" for x in known]
    text = f"Weighted kappa is {', '.join(parts)}." if parts else ""
    for each in found.orders[:1]:
        if each.position.share is not None:
            text += f" The {each.evaluator} judge prefers the answer shown first in "
            text += f"{percent(each.position.share)} of its decisions (p {_p(each.position.p_value)})."
    return text.strip()


def _p(value: float | None) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def _alike(found: Scorers) -> Table:
    rows = [
        (
            f"{x.first} and {x.second}",
            number(x.kappa),
            percent(x.same / x.compared if x.compared else None),
            of(x.compared, x.received, ""),
        )
        for x in found.alike
    ]
    note = "A dash: nothing to compare, or everything in one category, so that kappa has no answer."
    return Table("Battle by battle", ("scorers", "weighted kappa", "same answer", "battles"), rows, note)


def _chart(each: Limits) -> Figure:
    dots = go.Scatter(
        x=[(x.first + x.second) / 2 for x in each.systems],
        y=[x.first - x.second for x in each.systems],
        mode="markers+text" if len(each.systems) <= _NAMED else "markers",
        text=[label(x.system, 20) for x in each.systems],
        textposition="top center",
        marker={"color": BLUE, "size": 11},
        cliponaxis=False,
        customdata=[(label(x.system), x.battles, x.first, x.second) for x in each.systems],
        hovertemplate="%{customdata[0]}: %{customdata[2]:.1%} and %{customdata[3]:.1%} "
        "of %{customdata[1]} points<extra></extra>",
    )
    lines = ((each.bias, "solid"), (each.low, "dash"), (each.high, "dash"))
    spread = [each.low, each.high, *(x.first - x.second for x in each.systems)]
    reach = 1.2 * max((abs(value) for value in spread if value is not None), default=0.0) or 0.1
    shape = {"type": "line", "x0": 0, "x1": 1, "xref": "paper"}
    layout = {
        "xaxis": {"title": {"text": "mean share of points"}, "tickformat": ".0%"},
        "yaxis": {
            "title": {"text": f"{each.first} minus {each.second}"},
            "tickformat": ".0%",
            "range": [-reach, reach],
        },
        "shapes": [
            {**shape, "y0": y, "y1": y, "line": {"color": GREY, "width": 1.5, "dash": dash}}
            for y, dash in lines
        ],
    }
    alt = f"limits of agreement {number(each.low)} to {number(each.high)}; " + "; ".join(
        f"{x.system}: {percent(x.first)} and {percent(x.second)}" for x in each.systems
    )
    title = f"{_pair(each)}: {len(each.systems)} systems, {whole(each.battles)} battles"
    return figure(title, alt, [dots], 380, layout)


def _points(known: Sequence[Limits]) -> Table:
    rows = [
        (
            _pair(each),
            whole(len(each.systems)),
            number(each.bias),
            number(each.low),
            _interval(each.low_interval),
            number(each.high),
            _interval(each.high_interval),
            whole(each.battles),
        )
        for each in known
    ]
    columns = ("scorers", "systems", "bias", "lower limit", "95%", "upper limit", "95%", "battles")
    return Table("Limits of agreement, in shares of points", columns, rows, folded=True)


def _interval(found: tuple[float, float] | None) -> str:
    return MISSING if found is None else f"{number(found[0])} to {number(found[1])}"


def _orders(found: Sequence[JudgeOrder]) -> Table:
    rows = [
        (
            f"{each.evaluator}, {each.model}",
            percent(each.position.share),
            f"{whole(each.position.first)} / {whole(each.position.second)} / {whole(each.position.ties)}",
            p_value(each.position.p_value),
            *(f"{number(kappa)} ({whole(each.compared[name])})" for name, kappa in each.kappa.items()),
            number(each.delta),
        )
        for each in found
    ]
    dimension = found[0].dimension
    people = "no human preference" if dimension is None else f"people on {dimension_name(dimension)}"
    columns = (
        "judge",
        "prefers the first",
        "first / second / tie",
        "p",
        "kappa, A first",
        "kappa, B first",
        "largest gap to both",
    )
    note = f"p: exact binomial test of one half, taking verdicts as independent. Kappa with {people}."
    return Table("Order effects", columns, rows, note)
