"""The three scorers against each other, drawn."""

from collections.abc import Sequence

from nuggetstream.figures.charts import label
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.measurements import limits_figure
from nuggetstream.files.numerals import MISSING, integer, many, number, p_value, part_of, percent
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.numbers.scorers import Alike, JudgeOrder, Limits, Scorers
from nuggetstream.report.section import Content
from nuggetstream.report.wording import dimension_name

_NO_HUMAN_ORDER = "the results do not say which answer they were shown first"
_NOTE = (
    "Every point that one system gains another loses, so the mean difference is near zero by construction: "
    "look at the width between the dashed lines, and at which systems lie on which side."
)


def draw(scorers: Scorers) -> Content:
    """Kappa per battle, Bland-Altman per system, order effects per judge."""
    measured = [limits for limits in scorers.limits if limits.missing is None]
    charts = {_pair(limits): (_chart(limits),) for limits in measured}
    blocks: list[Block] = [_alike(scorers)]
    if charts:
        blocks += [Figures("Scorers", charts, _NOTE), _limits(measured)]
    blocks += [
        NotMeasured(f"limits of agreement of {_pair(limits)}", limits.missing)
        for limits in scorers.limits
        if limits.missing
    ]
    blocks.append(
        _orders(scorers.orders)
        if scorers.orders
        else NotMeasured("order effect of the judge", "no judge was asked")
    )
    blocks.append(NotMeasured("order effect of people", _NO_HUMAN_ORDER))
    compared = ", ".join(f"{_pair(alike)} {integer(alike.compared)}" for alike in scorers.alike)
    return Content(
        findings=_findings(scorers),
        reading="Weighted kappa compares two scorers battle by battle: 1 is perfect agreement, 0 is what "
        "chance gives. The plot is Bland and Altman's: each system's share of points by one scorer minus "
        "its share by the other, over the battles that both scored; about 95% of systems lie between the "
        "dashed lines. It compares systems and not battles, because people and the judge give votes while "
        "nuggets give a margin, and the two have no common unit. There is an order effect when the answer "
        "shown first wins clearly more or less than half of the time, or when agreement with people "
        "depends on the order.",
        basis=f"{compared} of {integer(scorers.received)} battles",
        blocks=tuple(blocks),
    )


def _pair(scorers: Alike | Limits) -> str:
    return f"{scorers.first} and {scorers.second}"


def _findings(scorers: Scorers) -> tuple[str, ...]:
    kappas = [
        f"{number(alike.kappa, 2)} for {_pair(alike)}" for alike in scorers.alike if alike.kappa is not None
    ]
    findings = [f"Weighted kappa is {', '.join(kappas)}."] if kappas else []
    findings += [
        f"The {order.evaluator} judge prefers the answer shown first in {percent(order.position.share)} of "
        f"its decisions (p {_p(order.position.p_value)})."
        for order in scorers.orders[:1]
        if order.position.share is not None
    ]
    return tuple(findings)


def _p(value: float | None) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"= {text}"


def _alike(scorers: Scorers) -> Table:
    return Table(
        caption="Battle by battle",
        columns=("scorers", "weighted kappa", "same preference", "battles"),
        rows=[
            (
                _pair(alike),
                number(alike.kappa, 2),
                percent(alike.same / alike.compared if alike.compared else None),
                part_of(alike.compared, alike.received),
            )
            for alike in scorers.alike
        ],
        note="A dash: nothing was compared, or all votes fall into one category, so that kappa is undefined.",
    )


def _chart(limits: Limits) -> Figure:
    systems = limits.systems
    return limits_figure(
        f"{_pair(limits)}: {many(len(systems), 'system')}, {many(limits.battles, 'battle')}",
        [(system.system, system.first, system.second) for system in systems],
        (limits.bias, limits.low, limits.high),
        [
            f"{label(system.system)}: {percent(system.first)} of the points by {limits.first}, "
            f"{percent(system.second)} by {limits.second} ({many(system.battles, 'battle')})"
            for system in systems
        ],
        axes=("mean share of points", f"{limits.first} minus {limits.second}"),
        tickformat=".0%",
    )


def _limits(measured: Sequence[Limits]) -> Table:
    return Table(
        caption="Limits of agreement, in shares of points",
        columns=(
            "scorers",
            "systems",
            "bias",
            "lower limit",
            "95% interval",
            "upper limit",
            "95% interval",
            "battles",
        ),
        rows=[
            (
                _pair(limits),
                integer(len(limits.systems)),
                number(limits.bias, 2),
                number(limits.low, 2),
                _bounds(limits.low_interval),
                number(limits.high, 2),
                _bounds(limits.high_interval),
                integer(limits.battles),
            )
            for limits in measured
        ],
        folded=True,
    )


def _bounds(interval: tuple[float, float] | None) -> str:
    return MISSING if interval is None else f"{number(interval[0], 2)} to {number(interval[1], 2)}"


def _orders(orders: Sequence[JudgeOrder]) -> Table:
    dimension = orders[0].dimension
    people = "no human preference" if dimension is None else f"people on {dimension_name(dimension)}"
    return Table(
        caption="Order effects",
        columns=(
            "judge",
            "prefers the first",
            "first / second / tie",
            "p-value",
            "kappa, A first",
            "kappa, B first",
            "largest difference from the pooled kappa",
        ),
        rows=[
            (
                f"{order.evaluator}, {order.model}",
                percent(order.position.share),
                f"{integer(order.position.first)} / {integer(order.position.second)} / "
                f"{integer(order.position.ties)}",
                p_value(order.position.p_value),
                *(
                    f"{number(kappa, 2)} ({integer(order.compared[name])})"
                    for name, kappa in order.kappa.items()
                ),
                number(order.delta, 2),
            )
            for order in orders
        ],
        note="The p-value is that of an exact binomial test of one half, which takes verdicts as independent."
        f" Kappa is with {people}; the number of verdicts is in parentheses.",
    )
