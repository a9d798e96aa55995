"""The sweep of the tie threshold."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREEN, GREY, ORANGE, figure
from nuggetstream.report.section import Content
from nuggetstream.report.sections.threshold.numbers import Sweep
from nuggetstream.report.wording import dimension_name, number, of, percent


def draw(found: Sequence[Sweep]) -> Content:
    """Agreement, kappa and share of ties over thresholds, for every human dimension."""
    able = [each for each in found if each.steps]
    blocks: list[Block] = []
    if able:
        blocks.append(Figures("Human dimension", {dimension_name(x.dimension): (_chart(x),) for x in able}))
        blocks += [_calibrations(able), _table(able)]
    else:
        blocks.append(State("No battle has both a human preference and nugget scores: nothing to sweep."))
    return Content(
        finding=_finding(able),
        reading="Two answers whose scores differ by at most the threshold are a tie. A larger threshold "
        "makes more ties, and every tie is half an agreement. The vertical line is the threshold that "
        "these results were made with, the dotted one splits the battles that people call a tie most evenly "
        "over A, tie and B, the dashed one has the highest kappa. Calibrated thresholds are read off the "
        "same battles they are judged by, so take them as hints.",
        basis=of(able[0].compared, able[0].received) if able else "0 battles",
        blocks=tuple(blocks),
    )


def _finding(able: Sequence[Sweep]) -> str:
    if not able or able[0].best is None:
        return ""
    used = ", ".join(number(value) for value in sorted(able[0].used))
    name = dimension_name(able[0].dimension)
    equals = (
        f", the smallest of {able[0].equals} thresholds tried with this kappa" if able[0].equals > 1 else ""
    )
    text = f"On {name}, kappa is highest at {number(able[0].best, 3)}{equals}; these results use {used}."
    if able[0].equals == len(able[0].steps):
        text = f"On {name}, kappa is the same at every threshold; these results use {used}."
    if (even := able[0].equal_split.threshold) is not None:
        return f"{text} The human ties split most evenly at {number(even, 3)}."
    return text


def _chart(each: Sweep) -> Figure:
    x = [step.threshold for step in each.steps]
    curves = (
        ("agreement", [step.agreement for step in each.steps], BLUE, "solid"),
        ("weighted kappa", [step.kappa for step in each.steps], GREEN, "dash"),
        ("share of ties", [step.ties for step in each.steps], ORANGE, "dot"),
    )
    traces = [
        go.Scatter(
            name=name,
            x=x,
            y=y,
            mode="lines",
            line={"color": colour, "width": 2.5, "dash": dash, "shape": "hv"},
            hovertemplate="threshold %{x:.3f}: %{y:.3f}",
        )
        for name, y, colour, dash in curves
        if any(value is not None for value in y)
    ]
    line = {"type": "line", "y0": 0, "y1": 1, "yref": "paper", "line": {"color": GREY, "width": 1.5}}
    alt = f"kappa is highest at threshold {number(each.best, 3)}; {of(each.compared, each.labelled)}"
    layout = {
        "xaxis": {"title": {"text": "threshold"}, "tickformat": ".2f"},
        "yaxis": {"title": {"text": "value"}, "rangemode": "tozero"},
        "shapes": [
            *({**line, "x0": used, "x1": used} for used in each.used),
            *_marks(each, line),
        ],
    }
    title = f"{dimension_name(each.dimension)}: {of(each.compared, each.labelled)} labelled"
    return figure(title, alt, traces, 360, layout)


def _marks(each: Sweep, line: dict[str, Any]) -> list[dict[str, Any]]:
    """Calibrated thresholds as vertical lines, where the axis reaches."""
    marks = ((each.equal_split.threshold, "dot"), (each.by_kappa.threshold, "dash"))
    return [
        {**line, "x0": at, "x1": at, "line": {"color": GREY, "width": 1.5, "dash": dash}}
        for at, dash in marks
        if at is not None and at <= each.steps[-1].threshold
    ]


def _calibrations(able: Sequence[Sweep]) -> Table:
    rows = [
        (
            dimension_name(each.dimension),
            name,
            number(found.threshold, 3),
            number(found.kappa),
            percent(found.ties),
            MISSING if found.tie_row is None else " / ".join(percent(share, 0) for share in found.tie_row),
            found.missing or "",
        )
        for each in able
        for name, found in (("even split of human ties", each.equal_split), ("highest kappa", each.by_kappa))
    ]
    columns = ("dimension", "calibrated by", "threshold", "kappa", "ties", "human ties: A / tie / B", "")
    note = "Chosen among all differences that occur, not among the steps of the sweep; “both bad” left out."
    return Table("Calibrated thresholds", columns, rows, note, text_columns=(1, 6), folded=len(rows) > 4)


def _table(able: Sequence[Sweep]) -> Table:
    rows = []
    for each in able:
        used = max(each.used, key=lambda value: each.used[value])
        there = min(each.steps, key=lambda step: abs(step.threshold - used))
        best = next((step for step in each.steps if step.threshold == each.best), None)
        rows.append(
            (
                dimension_name(each.dimension),
                number(used),
                number(there.kappa),
                number(each.best, 3),
                number(best.kappa if best else None),
                percent(each.human_ties),
                of(each.compared, each.labelled, ""),
            )
        )
    columns = (
        "dimension",
        "used",
        "kappa there",
        "best",
        "kappa there",
        "human ties",
        "compared of labelled",
    )
    note = "Used: the threshold of most battles. Best: of every 0.01 up to 0.3, the used and the calibrated."
    return Table("All dimensions", columns, rows, note, folded=True)
