"""Time and money."""

import plotly.graph_objects as go

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.blocks import (
    Block,
    Fact,
    Facts,
    Figure,
    Figures,
    State,
    Table,
)
from nuggetstream.report.charts import BLUE, figure
from nuggetstream.report.section import Content
from nuggetstream.report.sections.running.numbers import Latency, Running
from nuggetstream.report.wording import FEW_MARK, FEW_NOTE, number, of, whole
from nuggetstream.statistics.share import FEW

_NO_STAGES = (
    "Latency per stage: not measured. These results tell when a battle arrived and when it ended, not when "
    "its steps were recorded; the metrics of a running platform have every stage."
)


def draw(found: Running) -> Content:
    """Latency from arrival to end, and what was paid."""
    blocks: list[Block] = []
    if found.latency:
        blocks += [_facts(found.latency, found.received), Figures("", {"": (_chart(found.latency),)})]
    else:
        blocks.append(State("No battle tells both when it arrived and when it ended: no latency."))
    if found.out_of_order:
        text = f"{whole(found.out_of_order)} battles end before they arrive (a wrong clock) and are left out."
        blocks.append(State(text))
    blocks += [_stages(found) if found.stages else State(_NO_STAGES), *_costs(found)]
    covered = found.latency.battles if found.latency else 0
    return Content(
        finding=_finding(found.latency),
        reading="From a battle's arrival to its end. In an evaluation many battles are under way at "
        "once, so waiting in line is part of it. So is the time in which nothing ran, where an evaluation "
        "was stopped and resumed: results do not tell when. The curve shows the share of battles done within "
        "so many seconds. A stage's time runs from the record of the step before to its own. The nuggets' "
        "steps and the judge run side by side, so stages add up to more than the whole.",
        basis=of(covered, found.received) + " timed",
        blocks=tuple(blocks),
    )


def _finding(latency: Latency | None) -> str:
    if latency is None:
        return ""
    median = number(latency.quantiles[0.5], 1)
    return (
        f"Half of the battles ended within {median} s of their arrival, waiting in line and stops included."
    )


def _facts(latency: Latency, received: int) -> Facts:
    names = {0.5: "median", 0.95: "95% within", 0.99: "99% within"}
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
    alt = f"median {number(latency.quantiles[0.5], 1)} s, 95% within {number(latency.quantiles[0.95], 1)} s"
    return figure("Battles done within so many seconds", alt, [curve], 320, layout)


def _stages(found: Running) -> Table:
    rows = [
        (
            each.stage,
            number(each.median, 2),
            number(each.late, 2) + _mark(each.timed),
            of(each.timed, each.ended, ""),
        )
        for each in found.stages
    ]
    if found.latency:
        median, late = (number(found.latency.quantiles[level], 2) for level in (0.5, 0.95))
        timed = of(found.latency.battles, found.received, "")
        rows.append(("whole battle", median, late + _mark(found.latency.battles), timed))
    columns = ("stage", "median, seconds", "95% within, seconds", "timed of ended")
    note = f"A battle is not timed in a stage whose start is not recorded, or recorded late. {FEW_NOTE}"
    return Table("Latency per stage", columns, rows, note)


def _mark(cases: int) -> str:
    return FEW_MARK if 0 < cases < FEW else ""


def _costs(found: Running) -> list[Block]:
    blocks: list[Block] = []
    if found.costs:
        rows = [
            (cost.currency, number(cost.total, 4), number(cost.mean, 6), of(cost.battles, found.received, ""))
            for cost in found.costs
        ]
        columns = ("currency", "total", "mean per battle", "battles with a cost")
        blocks.append(Table("Cost", columns, rows, _FREE if not any(x.total for x in found.costs) else ""))
    else:
        blocks.append(State("No cost recorded. That means it is not known here, not that it was nothing."))
    if found.models:
        blocks.append(_models(found))
    else:
        blocks.append(State("Cost per stage and model: not measured."))
    return blocks


_FREE = "Nothing was charged: the models used are priced at zero, or their replies were already paid for."


def _models(found: Running) -> Table:
    rows = [
        (
            f"{each.stage}, {each.model}",
            MISSING if each.amount is None else f"{number(each.amount, 4)} {each.currency}",
            whole(each.calls),
            whole(each.input_tokens),
            whole(each.output_tokens),
            of(each.battles, found.received, ""),
        )
        for each in found.models
    ]
    columns = ("stage and model", "cost", "calls", "tokens in", "tokens out", "battles with calls")
    note = "A dash for cost: a call without a known price, which is not nothing. A battle that found all "
    note += "replies among those of others has no calls."
    return Table("Cost per stage and model", columns, rows, note)
