"""The sweep of the tie threshold, drawn."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from nuggetstream.files.numerals import MISSING, number, part_of, percent
from nuggetstream.report.blocks import Block, Figure, Figures, NotMeasured, Table
from nuggetstream.report.charts import BLUE, GREEN, ORANGE, figure, vertical_line
from nuggetstream.report.section import Content
from nuggetstream.report.sections.threshold.numbers import Sweep
from nuggetstream.report.wording import dimension_name


def draw(sweeps: Sequence[Sweep]) -> Content:
    """Agreement, kappa and share of ties over thresholds, for every human dimension."""
    drawable = [sweep for sweep in sweeps if sweep.steps]
    why = "no battle has both a human preference and nugget scores"
    blocks: list[Block] = [NotMeasured("agreement by threshold", why)]
    if drawable:
        charts = {dimension_name(sweep.dimension): (_chart(sweep),) for sweep in drawable}
        blocks = [Figures("Human dimension", charts), _calibrations(drawable), _table(drawable)]
    return Content(
        findings=_findings(drawable[0]) if drawable else (),
        reading="Two answers whose scores differ by at most the threshold are a tie. A larger threshold "
        "makes more ties, and every tie is half an agreement. The solid vertical line is the threshold "
        "that these results were made with. The dotted line splits the battles that people call a tie most "
        "evenly over A, tie and B; the dashed line has the highest kappa. These two are chosen and judged "
        "on the same battles, so they look better than they will on new ones.",
        basis=part_of(drawable[0].compared, drawable[0].received, "battles") if drawable else "0 battles",
        blocks=tuple(blocks),
    )


def _findings(sweep: Sweep) -> tuple[str, ...]:
    if sweep.best is None:
        return ()
    used = ", ".join(number(threshold) for threshold in sorted(sweep.used))
    name = dimension_name(sweep.dimension)
    if sweep.equals == len(sweep.steps):
        text = f"On {name}, kappa is the same at every threshold; these results use {used}."
    else:
        equals = f", the smallest of {sweep.equals} with this kappa" if sweep.equals > 1 else ""
        best = f"a threshold of {number(sweep.best)}"
        text = f"On {name}, kappa is highest at {best}{equals}; these results use {used}."
    if (even := sweep.equal_split.threshold) is not None:
        return text, f"Human ties split most evenly at {number(even)}."
    return (text,)


def _chart(sweep: Sweep) -> Figure:
    thresholds = [step.threshold for step in sweep.steps]
    curves = (
        ("agreement", [step.agreement for step in sweep.steps], BLUE, "solid"),
        ("weighted kappa", [step.kappa for step in sweep.steps], GREEN, "dash"),
        ("share of ties", [step.ties for step in sweep.steps], ORANGE, "dot"),
    )
    traces = [
        go.Scatter(
            name=name,
            x=thresholds,
            y=values,
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
            hovertemplate="threshold %{x:.3f}: %{y:.3f}",
        )
        for name, values, colour, dash in curves
        if any(value is not None for value in values)
    ]
    compared = part_of(sweep.compared, sweep.labelled, "battles labelled")
    alt = f"kappa is highest at threshold {number(sweep.best)}; {compared}"
    layout = {
        "xaxis": {"title": {"text": "threshold"}, "tickformat": ".2f"},
        "yaxis": {"title": {"text": "value"}, "rangemode": "tozero"},
        "shapes": [*(vertical_line(used, "solid") for used in sweep.used), *_calibrated_lines(sweep)],
    }
    return figure(f"{dimension_name(sweep.dimension)}: {compared}", alt, traces, 360, layout)


def _calibrated_lines(sweep: Sweep) -> list[dict[str, Any]]:
    """Calibrated thresholds as vertical lines, where the axis reaches."""
    lines = ((sweep.equal_split.threshold, "dot"), (sweep.by_kappa.threshold, "dash"))
    return [
        vertical_line(threshold, dash)
        for threshold, dash in lines
        if threshold is not None and threshold <= sweep.steps[-1].threshold
    ]


def _calibrations(sweeps: Sequence[Sweep]) -> Table:
    rows = [
        (
            dimension_name(sweep.dimension),
            name,
            number(calibrated.threshold),
            number(calibrated.kappa, 2),
            percent(calibrated.ties),
            MISSING
            if calibrated.tie_row is None
            else " / ".join(percent(share, 0) for share in calibrated.tie_row),
            calibrated.missing or "",
        )
        for sweep in sweeps
        for name, calibrated in (
            ("even split of human ties", sweep.equal_split),
            ("highest kappa", sweep.by_kappa),
        )
    ]
    columns = ("dimension", "calibrated by", "threshold", "kappa", "ties", "human ties: A / tie / B", "note")
    note = (
        "Chosen among all differences that occur, not among the steps of the sweep; “both bad” is left out."
    )
    return Table(
        caption="Calibrated thresholds",
        columns=columns,
        rows=rows,
        note=note,
        text_columns=(1, 6),
        folded=len(rows) > 4,
    )


def _table(sweeps: Sequence[Sweep]) -> Table:
    rows = []
    for sweep in sweeps:
        used = max(sweep.used, key=lambda threshold: sweep.used[threshold])
        at_used = min(sweep.steps, key=lambda step: abs(step.threshold - used))
        best = next((step for step in sweep.steps if step.threshold == sweep.best), None)
        rows.append(
            (
                dimension_name(sweep.dimension),
                number(used, 2),
                number(at_used.kappa, 2),
                number(sweep.best),
                number(best.kappa if best else None, 2),
                percent(sweep.human_ties),
                part_of(sweep.compared, sweep.labelled),
            )
        )
    columns = (
        "dimension",
        "threshold used",
        "its kappa",
        "best threshold",
        "its kappa",
        "human ties",
        "compared of labelled",
    )
    note = (
        "Used: the threshold of most battles. Best: the highest kappa of every 0.01 up to 0.3, the "
        "thresholds used and the calibrated ones."
    )
    return Table(caption="Thresholds per dimension", columns=columns, rows=rows, note=note, folded=True)
