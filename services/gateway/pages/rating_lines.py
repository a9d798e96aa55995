"""The geometry of ratings over time: lines in a chart of 100 by 50, for the timeline and for one system."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from nuggetstream.views.ratings import PeriodView, TimelineView

WIDTH, HEIGHT = 100.0, 50.0
_STEP = 50.0  # Elo points between the bounds of the axis
_DASHES = (None, "2 1", "0.6 0.8", "3 1 0.6 1")
MOST_LINES = 12  # lines that a reader can still tell apart


@dataclass(frozen=True, slots=True)
class Line:
    """The ratings of one system.

    Attributes:
        system: Name of the system, or of what else the line shows.
        paths: SVG paths, one for every run of periods without a gap.
        points: Centres of the marks.
        dash: SVG dash pattern, so that lines differ in more than colour; None for a solid line.
        ratings: Rating per period, in the order of the periods; None where it has none.
    """

    system: str
    paths: tuple[str, ...]
    points: tuple[tuple[float, float], ...]
    dash: str | None
    ratings: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines of the systems over the periods of a timeline.

    Attributes:
        low: Rating at the bottom.
        high: Rating at the top.
        lines: The systems with the best newest rating first.
        labels: Name of every period.
        hidden: Systems without a line, because there are too many.
    """

    low: float
    high: float
    lines: tuple[Line, ...]
    labels: tuple[str, ...]
    hidden: int


Series = tuple[float | None, ...]


def chart_of(timeline: TimelineView) -> Chart:
    """The chart of a timeline; a period without a rating of a system leaves a gap in its line."""
    ratings = _ratings(timeline)
    order = sorted(ratings, key=lambda system: (-_newest(ratings[system]), system))
    labels = [period_label(period, timeline) for period in timeline.periods]
    return chart_of_series({system: ratings[system] for system in order}, labels)


def chart_of_series(series: Mapping[str, Series], labels: Sequence[str]) -> Chart:
    """The chart of named series of ratings, one value per label; the first ones are drawn."""
    values = [value for ratings in series.values() for value in ratings if value is not None]
    low = min(values, default=1000.0) // _STEP * _STEP
    high = -(-max(values, default=1000.0) // _STEP) * _STEP
    if low == high:
        low, high = low - _STEP, high + _STEP
    lines = [
        _line(name, ratings, low, high, _DASHES[number % len(_DASHES)])
        for number, (name, ratings) in enumerate(list(series.items())[:MOST_LINES])
    ]
    return Chart(low, high, tuple(lines), tuple(labels), max(len(series) - MOST_LINES, 0))


def _ratings(timeline: TimelineView) -> dict[str, Series]:
    periods = [
        {standing.system: standing.rating for standing in period.standings} for period in timeline.periods
    ]
    systems = sorted(
        {system for period in periods for system, rating in period.items() if rating is not None}
    )
    return {system: tuple(period.get(system) for period in periods) for system in systems}


def _newest(series: Series) -> float:
    return next(value for value in reversed(series) if value is not None)


def _line(system: str, series: Series, low: float, high: float, dash: str | None) -> Line:
    step = WIDTH / max(len(series) - 1, 1)
    runs: list[list[tuple[float, float]]] = [[]]
    for number, rating in enumerate(series):
        if rating is None:
            runs.append([])
        else:
            across = round(number * step, 2) if len(series) > 1 else WIDTH / 2
            runs[-1].append((across, round(HEIGHT * (high - rating) / (high - low), 2)))
    paths = tuple("M" + " L".join(f"{x} {y}" for x, y in run) for run in runs if len(run) > 1)
    return Line(system, paths, tuple(point for run in runs for point in run), dash, series)


def period_label(period: PeriodView, timeline: TimelineView) -> str:
    """The last day of a cumulative period, else the month or the first day."""
    if timeline.cumulative:
        return f"to {(period.end - timedelta(microseconds=1)).date().isoformat()}"
    first = period.start.date().isoformat()
    return first[:7] if timeline.every == "month" else first
