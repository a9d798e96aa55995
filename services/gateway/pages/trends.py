"""How a system fares over time: its rating and its share of the points per period, lens by lens.

timelines of the lenses  ->  periods with one cell per lens, and a chart of the ratings
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from nuggetstream.ratings.standing import Standing
from nuggetstream.views.ratings import TimelineView
from services.gateway.pages.rating_lines import Chart, chart_of_series, period_label

MOST_PERIODS = 26  # the newest ones are shown


@dataclass(frozen=True, slots=True)
class Cell:
    """One system in one period and lens.

    Attributes:
        rating: Its rating among the battles of the period; None where it cannot be rated.
        share: Its share of the points of its battles, a tie being half a point.
        battles: Its battles with an outcome.
    """

    rating: float | None
    share: float
    battles: float


@dataclass(frozen=True, slots=True)
class Trends:
    """A system over time.

    Attributes:
        chart: Its rating per lens; a period without a rating is a gap.
        rows: Per period its label and one cell per lens, oldest first; None where it has no outcome.
        earlier: Number of earlier periods that are not shown.
    """

    chart: Chart
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    earlier: int


def trends_of(timelines: Mapping[str, TimelineView], system: str) -> Trends:
    """The trends of a system.

    Args:
        timelines: Timeline of each lens, by the name that a reader sees.
        system: Name of the system.
    """
    cells: dict[datetime, dict[str, Cell]] = {}
    labels: dict[datetime, str] = {}
    for lens, timeline in timelines.items():
        for period in timeline.periods:
            labels[period.start] = period_label(period, timeline)
            own = next((standing for standing in period.standings if standing.system == system), None)
            if own is not None and own.battles:
                cells.setdefault(period.start, {})[lens] = _cell(own)
    first = min(cells, default=None)
    starts = [] if first is None else [start for start in sorted(labels) if first <= start <= max(cells)]
    shown = starts[-MOST_PERIODS:]
    by_lens = {lens: [cells.get(start, {}).get(lens) for start in shown] for lens in timelines}
    series = {
        lens: tuple(None if cell is None else cell.rating for cell in own) for lens, own in by_lens.items()
    }
    rated = {
        lens: ratings for lens, ratings in series.items() if any(standing is not None for standing in ratings)
    }
    rows = zip((labels[start] for start in shown), zip(*by_lens.values(), strict=True), strict=True)
    return Trends(
        chart=chart_of_series(rated, [labels[start] for start in shown]),
        rows=tuple(rows),
        earlier=len(starts) - len(shown),
    )


def _cell(standing: Standing) -> Cell:
    share = (standing.wins + standing.ties / 2) / standing.battles
    return Cell(standing.rating, share, standing.battles)
