"""One look for all figures. The colours are Okabe and Ito's, told apart with every kind of colour vision.

Text, grid and background are left to the page, which follows the reader's light or dark setting.
"""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import MISSING, integer, interval, number
from nuggetstream.statistics.share import Share

BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A9299"
SKY, YELLOW = "#56B4E9", "#E69F00"
LENS_COLOURS = {"human": ORANGE, "nugget": BLUE, "judge": GREEN}
LENS_SYMBOLS = {"human": "circle", "nugget": "diamond", "judge": "square"}
VOTE_COLOURS = {"a": BLUE, "tie": GREY, "b": ORANGE, "both_bad": PURPLE}
VOTE_NAMES = {
    "a": "people prefer A",
    "tie": "people see a tie",
    "b": "people prefer B",
    "both_bad": "people call both bad",
}
Trace = dict[str, Any]  # a series of a figure, in the terms of plotly.js
Look = tuple[str, str, str]  # name in the legend, colour and symbol
DARK_INK = "#14181a"  # text on cells that are light in every theme
ROW = 34  # pixels per horizontal row
_FRAME = 96  # pixels for title, legend and axis


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating on the Elo scale with its interval.

    Attributes:
        rating: The rating.
        low: Lower bound; None where there is none.
        high: Upper bound; None where there is none.
    """

    rating: float
    low: float | None
    high: float | None


def label(text: str, limit: int = 34) -> str:
    """Text from a battle, safe and short enough for an axis: plotly reads tags in its labels.

    >>> label("<b>x</b>")
    '&lt;b&gt;x&lt;/b&gt;'
    """
    return html.escape(text if len(text) <= limit else f"{text[: limit - 1]}…", quote=False)


def trace(kind: str, **settings: Any) -> Trace:
    """A series of a figure.

    Args:
        kind: How it is drawn: "scatter", "bar" or "heatmap".
        settings: Its data and its look, by their names in plotly.js.
    """
    return {"type": kind, **settings}


def curve(**settings: Any) -> Trace:
    """A line through points; settings as for `trace`."""
    return trace("scatter", mode="lines", **settings)


def faint(colour: str) -> str:
    """A colour that others are seen through, for areas.

    >>> faint("#0072B2")
    'rgba(0,114,178,0.14)'
    """
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.14)"


def figure(
    title: str, alt: str, traces: Sequence[Trace], height: int, layout: Mapping[str, Any] | None = None
) -> Figure:
    """A figure in the common look.

    Args:
        title: What the figure shows.
        alt: The figure in words.
        traces: Its series; bars are stacked.
        height: In CSS pixels.
        layout: What differs from the common layout; axes keep the common settings they do not set.
    """
    own = dict(layout or {})
    axis = {"automargin": True, "fixedrange": True, "zeroline": False}
    common = {
        "margin": {"l": 8, "r": 12, "t": 36, "b": 40},
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "hoverlabel": {"align": "left"},
        "barmode": "stack",
        "bargap": 0.35,
        "showlegend": len(traces) > 1,
    }
    axes = {name: axis | own.pop(name, {}) for name in ("xaxis", "yaxis")}
    spec = {
        "data": list(traces),
        "layout": common | axes | own,
    }
    return Figure(title, spec, alt, height)


def rows_height(rows: int, per_row: int = ROW) -> int:
    """Height of a figure of horizontal rows."""
    return _FRAME + per_row * max(rows, 2)


def names_axis(names: Sequence[str]) -> dict[str, Any]:
    """A vertical axis of names at 0, 1, 2, …, the first on top."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [f"{label(name)}  " for name in names],
        "range": [len(names) - 0.5, -0.5],
        "showgrid": False,
    }


def share_axis(title: str, **more: Any) -> dict[str, Any]:
    """A horizontal axis of shares in percent."""
    return {"title": {"text": title}, "tickformat": ".0%", **more}


def vertical_line(x: float, dash: str = "dot") -> dict[str, Any]:
    """A vertical line through the whole figure, for the layout's `shapes`."""
    line = {"color": GREY, "dash": dash, "width": 1.5}
    return {"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "paper", "line": line}


def marks_with_intervals(
    name: str,
    x: Sequence[float],
    y: Sequence[float],
    low: Sequence[float | None],
    high: Sequence[float | None],
    **more: Any,
) -> Trace:
    """Marks with horizontal, possibly unequal, intervals; a mark without bounds stands alone."""
    return trace(
        "scatter",
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


def share_marks(
    name: str, shares: Sequence[tuple[float, Share]], colour: str, symbol: str, extra: str = ""
) -> Trace:
    """Marks for shares with their intervals; a share of nothing has no mark.

    Args:
        name: In the legend.
        shares: Vertical position and share.
        colour: Of the marks.
        symbol: Of the marks.
        extra: What the hover text ends with; "<extra></extra>" leaves out the name.
    """
    measured = [(y, share, share.value) for y, share in shares if share.value is not None]
    return marks_with_intervals(
        name,
        [value for _, _, value in measured],
        [y for y, _, _ in measured],
        [share.low for _, share, _ in measured],
        [share.high for _, share, _ in measured],
        marker={"color": colour, "symbol": symbol, "size": 11},
        customdata=[(share.count, share.of) for _, share, _ in measured],
        hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})" + extra,
    )


def ratings_figure(
    title: str, rows: Mapping[str, Sequence[Rated | None]], ways: Sequence[Look], per_row: int, reach: float
) -> Figure:
    """Ratings of systems in several ways, each with its interval.

    Args:
        title: What the figure shows.
        rows: System -> its rating by each way; None where a way cannot rate it.
        ways: Name, colour and symbol of each way.
        per_row: Pixels per system.
        reach: Vertical distance of the outermost ways in a row.
    """
    traces, names = [], list(rows)
    for index, (name, colour, symbol) in enumerate(ways):
        rated = [(y, rating) for y, own in enumerate(rows.values()) if (rating := own[index])]
        if not rated:
            continue
        traces.append(
            marks_with_intervals(
                name,
                [rating.rating for _, rating in rated],
                [y + offset(index, len(ways), reach) for y, _ in rated],
                [rating.low for _, rating in rated],
                [rating.high for _, rating in rated],
                marker={"color": colour, "symbol": symbol, "size": 11},
                customdata=[interval(rating.low, rating.high) for _, rating in rated],
                hovertemplate="%{x:.0f} (%{customdata})",
            )
        )
    sentence = (
        ", ".join(f"{name} {rating_words(rating)}" for (name, _, _), rating in zip(ways, own, strict=True))
        for own in rows.values()
    )
    alt = "; ".join(f"{system}: {ratings}" for system, ratings in zip(names, sentence, strict=True))
    layout = {"yaxis": names_axis(names), "xaxis": {"title": {"text": "rating"}}}
    return figure(title, alt, traces, rows_height(len(names), per_row), layout)


def rating_words(rating: Rated | None) -> str:
    """A rating with its interval, or a dash where there is none."""
    if rating is None:
        return MISSING
    return f"{number(rating.rating, 0)} ({interval(rating.low, rating.high)})"


def shares_figure(
    title: str,
    axis: Mapping[str, Any],
    rows: Mapping[str, tuple[Mapping[str, int], int]],
    colours: Mapping[str, str],
    *,
    things: str = "",
    height: int | None = None,
) -> Figure:
    """Stacked shares of categories, a bar per row; categories that never occur are left out.

    Args:
        title: What the figure shows.
        axis: The horizontal axis.
        rows: Name -> category -> count, and what the counts are shares of.
        colours: Colour of each category, in the order of the stack.
        things: What is counted, for the hover text.
        height: In CSS pixels; by default as the number of rows needs.
    """
    traces = [
        trace(
            "bar",
            name=category.replace("_", " "),
            orientation="h",
            x=[counts.get(category, 0) / total for counts, total in rows.values()],
            y=list(range(len(rows))),
            marker={"color": colour},
            customdata=[(counts.get(category, 0), total) for counts, total in rows.values()],
            hovertemplate=f"%{{x:.1%}} (%{{customdata[0]}} of %{{customdata[1]}}{things})",
        )
        for category, colour in colours.items()
        if any(counts.get(category) for counts, _ in rows.values())
    ]
    alt = "; ".join(
        f"{name}: of {integer(total)}{things}, "
        + ", ".join(
            f"{label_of.replace('_', ' ')} {integer(count)}" for label_of, count in counts.items() if count
        )
        for name, (counts, total) in rows.items()
    )
    layout = {"yaxis": names_axis(list(rows)), "xaxis": axis, "showlegend": True}
    return figure(title, alt, traces, height or rows_height(len(rows)), layout)


def offset(index: int, marks: int, reach: float = 0.5) -> float:
    """Vertical offset of one of several marks in the same row, around the row's middle.

    >>> [offset(index, 3) for index in range(3)], offset(0, 1)
    ([-0.25, 0.0, 0.25], 0.0)
    """
    return 0.0 if marks < 2 else reach * (index / (marks - 1) - 0.5)
