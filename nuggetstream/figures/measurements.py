"""Numbers of the same things: two measurements against each other, accuracy by cost, ratings along time."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from nuggetstream.figures.charts import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    YELLOW,
    Rated,
    figure,
    label,
    rating_words,
    trace,
)
from nuggetstream.figures.figure import Figure
from nuggetstream.files.numerals import number, percent
from nuggetstream.statistics.agreement import Agreement

_NAMED = 12  # points; more names than these would overlap
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, SKY, YELLOW, GREY)
_DASHES = ("solid", "dash", "dot")
Bounds = tuple[float | None, float | None, float | None]  # bias, lower and upper limit of agreement


def limits_figure(
    title: str,
    points: Sequence[tuple[str, float, float]],
    bounds: Bounds,
    hover: Sequence[str],
    *,
    axes: tuple[str, str],
    tickformat: str = "",
) -> Figure:
    """Bland and Altman's plot: the difference of two measurements by their mean, with limits of agreement.

    Args:
        title: What the figure shows.
        points: Name of each thing, and both measurements of it.
        bounds: Bias and limits; None where they are unknown.
        hover: What is said of each point.
        axes: Title of the horizontal and of the vertical axis.
        tickformat: Format of the numbers on both axes.

    Source: Bland and Altman, 1986.
    """
    differences = [first - second for _, first, second in points]
    dots = trace(
        "scatter",
        x=[(first + second) / 2 for _, first, second in points],
        y=differences,
        mode="markers+text" if len(points) <= _NAMED else "markers",
        text=[label(name, 20) for name, _, _ in points],
        textposition="top center",
        marker={"color": BLUE, "size": 11},
        cliponaxis=False,
        customdata=list(hover),
        hovertemplate="%{customdata}<extra></extra>",
    )
    finite = [bound for bound in bounds if bound is not None]
    reach = 1.2 * max(map(abs, [*finite, *differences])) or 0.1
    shape = {"type": "line", "x0": 0, "x1": 1, "xref": "paper"}
    lines = zip(bounds, ("solid", "dash", "dash"), strict=True)
    agreement = f"limits of agreement {number(bounds[1], 2)} to {number(bounds[2], 2)}"
    return figure(
        title,
        alt="; ".join([agreement, *hover]),
        traces=[dots],
        height=380,
        layout={
            "xaxis": {"title": {"text": axes[0]}, "tickformat": tickformat},
            "yaxis": {"title": {"text": axes[1]}, "tickformat": tickformat, "range": [-reach, reach]},
            "shapes": [
                {**shape, "y0": y, "y1": y, "line": {"color": GREY, "width": 1.5, "dash": dash}}
                for y, dash in lines
                if y is not None
            ],
        },
    )


def cost_figure(title: str, points: Sequence[tuple[str, float, Agreement]], unit: str) -> Figure | None:
    """How often each evaluator is right, by what it costs, with intervals.

    Args:
        title: What the figure shows.
        points: Name of each evaluator, its cost, and its agreement with people.
        unit: What the cost is counted in.

    Returns:
        The figure; None without a point.
    """
    measured = [(name, cost, own, own.share) for name, cost, own in points if own.share is not None]
    if not measured:
        return None
    marks = trace(
        "scatter",
        x=[cost for _, cost, _, _ in measured],
        y=[share for *_, share in measured],
        mode="markers+text" if len(measured) <= _NAMED else "markers",
        text=[label(name, 28) for name, *_ in measured],
        textposition="top center",
        marker={"color": BLUE, "size": 11},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [0.0 if own.high is None else own.high - share for _, _, own, share in measured],
            "arrayminus": [0.0 if own.low is None else share - own.low for _, _, own, share in measured],
        },
        cliponaxis=False,
        customdata=[own.compared for _, _, own, _ in measured],
        hovertemplate="%{text}: %{y:.1%} of %{customdata} at %{x:.3g}<extra></extra>",
    )
    alt = "; ".join(
        f"{name}: {percent(share)} right at {cost:.3g} {unit}" for name, cost, _, share in measured
    )
    layout = {
        "xaxis": {"title": {"text": unit}, "rangemode": "tozero"},
        "yaxis": {"title": {"text": "share right"}, "tickformat": ".0%"},
    }
    return figure(title, alt, [marks], 420, layout)


def timeline_figure(
    title: str, periods: Sequence[tuple[datetime, datetime, Mapping[str, Rated]]]
) -> Figure | None:
    """Ratings along time, a line per system with intervals; it is broken where a system has no rating.

    Args:
        title: What the figure shows.
        periods: Start and end of each period, and the systems rated in it. Periods that all start at once
            are cumulative, and drawn at their ends.

    Returns:
        The figure; None where nothing is rated.
    """
    systems = dict.fromkeys(name for _, _, rated in periods for name in rated)
    if not systems:
        return None
    cumulative = len({start for start, _, _ in periods}) < len(periods)
    moments = [(end if cumulative else start).isoformat() for start, end, _ in periods]
    traces = []
    for index, name in enumerate(systems):
        line = [rated.get(name) for _, _, rated in periods]
        above = [0.0 if one is None or one.high is None else one.high - one.rating for one in line]
        below = [0.0 if one is None or one.low is None else one.rating - one.low for one in line]
        colour, dash = _COLOURS[index % len(_COLOURS)], _DASHES[index // len(_COLOURS) % len(_DASHES)]
        traces.append(
            trace(
                "scatter",
                name=label(name),
                mode="lines+markers",
                x=moments,
                y=[None if one is None else one.rating for one in line],
                error_y={"type": "data", "symmetric": False, "array": above, "arrayminus": below},
                line={"color": colour, "dash": dash},
                customdata=[rating_words(one) for one in line],
                hovertemplate="%{x|%Y-%m-%d}: %{customdata}",
            )
        )
    alt = "; ".join(
        f"{name}: {', '.join(rating_words(rated.get(name)) for _, _, rated in periods)}" for name in systems
    )
    return figure(
        title, alt, traces, 420, {"xaxis": {"type": "date"}, "yaxis": {"title": {"text": "rating"}}}
    )
