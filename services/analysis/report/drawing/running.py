"""Time and money."""

import plotly.graph_objects as go

from services.analysis.report.blocks import Block, Fact, Facts, Figure, Figures, Section, State, Table
from services.analysis.report.drawing.style import BLUE, figure
from services.analysis.report.drawing.words import number, of, whole
from services.analysis.report.numbers.running import Latency, Running

_STAGES = (
    "Latency per stage is not recorded here: results tell when a battle arrived and when it ended. "
    "The metrics of a running platform have every stage."
)


def draw(found: Running) -> Section:
    """Latency from arrival to end, and what was paid."""
    blocks: list[Block] = []
    if found.latency:
        blocks += [_facts(found.latency, found.received), Figures("", {"": (_chart(found.latency),)})]
    else:
        blocks.append(State("No battle tells both when it arrived and when it ended: no latency."))
    if found.out_of_order:
        text = f"{whole(found.out_of_order)} battles end before they arrive (a wrong clock) and are left out."
        blocks.append(State(text))
    blocks += [State(_STAGES), _costs(found)]
    covered = found.latency.battles if found.latency else 0
    return Section(
        name="running",
        title="Time and cost",
        question="What did it take?",
        finding=_finding(found.latency),
        reading="From a battle's arrival to its end. In an evaluation many battles are under way at "
        "once, so waiting in line is part of it. The curve shows the share of battles done within so many "
        "seconds.",
        basis=of(covered, found.received) + " timed",
        blocks=tuple(blocks),
    )


def _finding(latency: Latency | None) -> str:
    if latency is None:
        return ""
    return f"Half of the battles ended within {number(latency.quantiles[0.5], 1)} s of their arrival."


def _facts(latency: Latency, received: int) -> Facts:
    names = {0.5: "median", 0.9: "90% within", 0.99: "99% within"}
    basis = of(latency.battles, received)
    return Facts(
        tuple(
            Fact(f"{number(seconds, 1)} s", names[level], basis)
            for level, seconds in latency.quantiles.items()
        )
    )


def _chart(latency: Latency) -> Figure:
    steps = [(i + 1) / latency.battles for i in range(latency.battles)]
    curve = go.Scatter(
        x=list(latency.seconds),
        y=steps,
        mode="lines",
        line={"color": BLUE, "width": 2.5, "shape": "hv"},
        hovertemplate="%{y:.0%} within %{x:.1f} s<extra></extra>",
    )
    layout = {
        "xaxis": {"title": {"text": "seconds from arrival to end"}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "battles done"}, "tickformat": ".0%", "range": [0, 1.02]},
    }
    alt = f"median {number(latency.quantiles[0.5], 1)} s, 90% within {number(latency.quantiles[0.9], 1)} s"
    return figure("Battles done within so many seconds", alt, [curve], 320, layout)


def _costs(found: Running) -> Block:
    if not found.costs:
        return State("No cost recorded. That means it is not known here, not that it was nothing.")
    rows = [
        (cost.currency, number(cost.total, 4), number(cost.mean, 6), of(cost.battles, found.received, ""))
        for cost in found.costs
    ]
    return Table("Cost", ("currency", "total", "mean per battle", "battles with a cost"), rows)
