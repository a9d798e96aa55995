"""One look for all figures. Colours are Okabe and Ito's, told apart with every kind of colour vision.

Text, grid and background are left to the page, which follows the reader's light or dark setting.
"""

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from nuggetstream.report.blocks import Figure

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A9299"
SKY, YELLOW = "#56B4E9", "#E69F00"
LENS_COLOURS = {"human": ORANGE, "nugget": BLUE, "judge": GREEN}
LENS_SYMBOLS = {"human": "circle", "nugget": "diamond", "judge": "square"}
VOTE_COLOURS = {"a": BLUE, "tie": GREY, "b": ORANGE, "both_bad": PURPLE}
VOTE_NAMES = {
    "a": "people prefer A",
    "tie": "people see a tie",
    "b": "people prefer B",
    "both_bad": "both bad",
}
ROW = 34  # pixels per horizontal row
_FRAME = 96  # pixels for title, legend and axis


def label(text: str, limit: int = 34) -> str:
    """Text from a battle, safe and short enough for an axis: plotly reads tags in its labels.

    >>> label("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    return html.escape(text if len(text) <= limit else f"{text[: limit - 1]}…", quote=False)


def figure(
    title: str, alt: str, traces: Sequence[Any], height: int, layout: Mapping[str, Any] | None = None
) -> Figure:
    """A figure in the common look."""
    drawn = go.Figure(data=list(traces))
    drawn.update_layout(
        template="none",
        margin={"l": 8, "r": 12, "t": 36, "b": 40},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        hoverlabel={"align": "left"},
        barmode="stack",
        bargap=0.35,
        showlegend=len(traces) > 1,
    )
    drawn.update_xaxes(automargin=True, fixedrange=True, zeroline=False)
    drawn.update_yaxes(automargin=True, fixedrange=True, zeroline=False)
    drawn.update_layout(**(layout or {}))
    spec = json.loads(drawn.to_json())
    spec["layout"].pop("template", None)
    return Figure(title, spec, alt, height)


def rows_height(rows: int, per_row: int = ROW) -> int:
    """Height of a figure of horizontal rows."""
    return _FRAME + per_row * max(rows, 2)


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of names at 0, 1, 2, …, the first on top."""
    places = list(range(len(names)))
    return {
        "tickvals": places,
        "ticktext": [f"{label(name)}  " for name in names],
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
    }


def share_axis(title: str, **more: Any) -> dict[str, Any]:
    """A horizontal axis of shares in percent."""
    return {"title": {"text": title}, "tickformat": ".0%", **more}


def marks_with_intervals(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float | None],
    high: Sequence[float | None],
    **more: Any,
) -> Any:
    """Points with horizontal, possibly unequal, intervals; where there is no end, the mark stands alone."""
    return go.Scatter(
        name=name,
        x=list(x),
        y=list(y),
        mode="markers",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [0.0 if top is None else top - at for top, at in zip(high, x, strict=True)],
            "arrayminus": [0.0 if bottom is None else at - bottom for bottom, at in zip(low, x, strict=True)],
            "thickness": 2.5,
            "width": 0,
        },
        **more,
    )


def offset(place: int, of: int, reach: float = 0.5) -> float:
    """Where the `place`-th of several marks of one row goes, around the row's middle."""
    return 0.0 if of < 2 else reach * (place / (of - 1) - 0.5)
