"""A system over time: one row per period from its first battle to its last, in every lens."""

from datetime import UTC, datetime

from nuggetstream.domain.lens import Lens
from nuggetstream.ratings.standing import Standing
from nuggetstream.views.ratings import PeriodView, TimelineView
from services.gateway.pages.trends import MOST_PERIODS, trends_of


def month(number: int, *standings: Standing) -> PeriodView:
    start, end = (datetime(2024 + at // 12, at % 12 + 1, 1, tzinfo=UTC) for at in (number, number + 1))
    return PeriodView(start=start, end=end, votes=1, state="ranked", standings=list(standings))


def standing(rating: float | None, wins: float, losses: float, system: str = "atlas") -> Standing:
    return Standing(
        system=system,
        rating=rating,
        low=None,
        high=None,
        interval_state=None,
        rank=None,
        group=None,
        probability_first=None,
        provisional=False,
        battles=wins + losses,
        wins=wins,
        losses=losses,
        ties=0.0,
        unrankable=None,
    )


def timeline(*periods: PeriodView) -> TimelineView:
    return TimelineView.model_construct(
        arena="demo", lens=Lens.HUMAN, every="month", cumulative=False, periods=list(periods)
    )


def test_periods_without_a_battle_of_the_system_stay_in_between_but_not_around() -> None:
    other = standing(900.0, 1, 0, "cedar")
    human = timeline(month(0, other), month(1, standing(1010.0, 3, 1)), month(2, other))
    nugget = timeline(month(1), month(3, standing(None, 0, 2)), month(4, other))
    trends = trends_of({"human": human, "nugget": nugget}, "atlas")
    assert [label for label, _ in trends.rows] == ["2024-02", "2024-03", "2024-04"]
    shares = [
        [cell and (cell.rating, cell.share, cell.battles) for cell in cells] for _, cells in trends.rows
    ]
    assert shares == [[(1010.0, 0.75, 4), None], [None, None], [None, (None, 0.0, 2)]]
    assert [(line.system, line.ratings) for line in trends.chart.lines] == [("human", (1010.0, None, None))]


def test_only_the_newest_periods_are_shown() -> None:
    own = timeline(*(month(number, standing(1000.0, 1, 1)) for number in range(MOST_PERIODS + 3)))
    trends = trends_of({"human": own}, "atlas")
    assert (len(trends.rows), trends.earlier, trends.rows[0][0]) == (MOST_PERIODS, 3, "2024-04")
    assert trends_of({"human": own}, "nobody").rows == ()
