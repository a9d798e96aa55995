"""Votes counted per period: bounds worked by hand, nothing lost, and no rating without votes."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.battle import Vote
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.model import Ratings, rate
from nuggetstream.ratings.options import Every, Options
from nuggetstream.ratings.timeline import MOST_PERIODS, Period, timeline_of_tallies

T = TypeVar("T")
PERIODS = st.one_of(st.sampled_from(Every), st.integers(1, 12))
MOMENTS = st.datetimes(datetime(2025, 1, 1), datetime(2025, 9, 1), timezones=st.just(UTC))
PAIRS = st.sampled_from([("w", "x"), ("x", "w"), ("y", "z"), ("w", "z")])
ENTRIES = st.tuples(MOMENTS, PAIRS, st.sampled_from(Vote), st.sampled_from([1.0, 2.0, 0.25]))
VOTES = st.lists(ENTRIES.map(lambda entry: (entry[0], *entry[1], *entry[2:])), max_size=25)


Dated = tuple[datetime, str, str, Vote, float]


def timeline(
    votes: Iterable[Dated], periods: Every | int, rate: Callable[[Tally], T], *, cumulative: bool = False
) -> tuple[Period[T], ...]:
    dated = [(moment, Tally.count([counted])) for moment, *counted in votes]
    return timeline_of_tallies(dated, periods, rate, cumulative=cumulative)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def vote(text: str, winner: Vote = Vote.A, count: float = 1.0) -> Dated:
    return at(text), "x", "y", winner, count


def bounds(periods: tuple[Period[object], ...]) -> list[tuple[str, str]]:
    return [(period.start.strftime("%m-%d"), period.end.strftime("%m-%d")) for period in periods]


def same(one: Tally, other: Tally) -> bool:
    return one.systems == other.systems and all(
        np.allclose(getattr(one, part), getattr(other, part)) for part in ("wins", "ties", "both_bad")
    )


def nothing(tally: Tally) -> None:
    """Rates nothing."""


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (Every.DAY, [("02-27", "02-28"), ("02-28", "03-01"), ("03-01", "03-02"), ("03-02", "03-03")]),
        (Every.WEEK, [("02-24", "03-03")]),
        (Every.MONTH, [("02-01", "03-01"), ("03-01", "04-01")]),
    ],
)
def test_calendar_periods_are_as_in_a_calendar(every: Every, expected: list[tuple[str, str]]) -> None:
    votes = [vote("2025-02-27T23:59:59.999999"), vote("2025-03-02")]
    assert bounds(timeline(votes, every, nothing)) == expected


def test_a_period_has_its_start_and_not_its_end() -> None:
    votes = [vote("2025-03-01"), vote("2025-03-01T23:59:59.999999"), vote("2025-03-02")]
    assert [period.votes for period in timeline(votes, Every.DAY, nothing)] == [2, 1]


def test_months_pass_the_end_of_a_year_and_short_februaries() -> None:
    periods = timeline([vote("2023-11-30"), vote("2024-03-31")], Every.MONTH, nothing)
    assert [period.start.strftime("%Y-%m") for period in periods] == [
        "2023-11", "2023-12", "2024-01", "2024-02", "2024-03",
    ]  # fmt: skip
    assert [(period.end - period.start).days for period in periods] == [30, 31, 31, 29, 31]


def test_equal_parts_divide_the_time_from_the_first_vote_to_the_last() -> None:
    votes = [vote("2025-01-01"), vote("2025-01-05"), vote("2025-01-08"), vote("2025-01-09")]
    periods = timeline(votes, 4, nothing)
    assert [period.votes for period in periods] == [1, 0, 1, 2]  # two days each
    assert periods[0].start == at("2025-01-01")
    assert periods[-1].end == at("2025-01-09") + timedelta(microseconds=1)
    lengths = [period.end - period.start for period in periods]
    assert max(lengths) - min(lengths) <= timedelta(microseconds=1)


def test_other_time_zones_are_converted() -> None:
    late = datetime(2025, 3, 1, 1, tzinfo=timezone(timedelta(hours=2)))  # still February in UTC
    (period,) = timeline([(late, "x", "y", Vote.A, 1)], Every.MONTH, nothing)
    assert (period.start, period.start.tzinfo) == (at("2025-02-01"), UTC)


def test_a_moment_without_a_time_zone_is_an_error_that_names_the_vote() -> None:
    naive = datetime(2025, 3, 1)
    with pytest.raises(ValueError, match="vote 2: 2025-03-01T00:00:00 is without a time zone"):
        timeline([vote("2025-03-01"), (naive, "x", "y", Vote.A, 1)], Every.DAY, nothing)


def test_a_period_without_votes_has_no_rating_and_is_not_rated() -> None:
    rated: list[float] = []
    votes = [vote("2025-03-01"), vote("2025-03-03", Vote.BOTH_BAD, 2.5), vote("2025-03-04", Vote.TIE, 0.0)]
    periods = timeline(votes, Every.DAY, lambda tally: rated.append(tally.wins.sum()) or "rated")
    assert [(period.votes, period.rating) for period in periods] == [
        (1.0, "rated"), (0.0, None), (2.5, "rated"), (0.0, None),
    ]  # fmt: skip
    assert rated == [1, 0]
    assert periods[1].tally.systems == ()


def test_cumulative_periods_count_everything_so_far() -> None:
    votes = [vote("2025-03-01"), vote("2025-03-03", Vote.B), (at("2025-03-04"), "x", "z", Vote.TIE, 1.0)]
    periods = timeline(votes, Every.DAY, lambda tally: tally.systems, cumulative=True)
    assert [period.votes for period in periods] == [1, 1, 2, 3]
    assert bounds(periods) == [("03-01", end) for end in ("03-02", "03-03", "03-04", "03-05")]
    assert [period.rating for period in periods] == [("x", "y")] * 3 + [("x", "y", "z")]


@given(VOTES, PERIODS)
@settings(max_examples=60, deadline=None)
def test_no_vote_is_lost_or_counted_twice(votes: list[Dated], periods: Every | int) -> None:
    spread = len({moment for moment, *_ in votes})
    if isinstance(periods, int) and spread < 2:
        periods = 1
    result = timeline(votes, periods, nothing)
    assert sum(period.votes for period in result) == pytest.approx(sum(count for *_, count in votes))
    assert all(sooner.end == later.start for sooner, later in pairwise(result))
    for period in result:
        own = [entry[1:] for entry in votes if period.start <= entry[0] < period.end]
        assert same(period.tally, Tally.count(own))


@given(VOTES, PERIODS)
@settings(max_examples=60, deadline=None)
def test_a_cumulative_period_is_the_tally_of_all_votes_before_its_end(
    votes: list[Dated], periods: Every | int
) -> None:
    if isinstance(periods, int) and len({moment for moment, *_ in votes}) < 2:
        periods = 1
    for period in timeline(votes, periods, nothing, cumulative=True):
        assert same(period.tally, Tally.count(entry[1:] for entry in votes if entry[0] < period.end))


@given(VOTES, st.randoms())
@settings(max_examples=50, deadline=None)
def test_the_order_of_votes_does_not_matter(votes: list[Dated], chance: object) -> None:
    shuffled = chance.sample(votes, len(votes))
    one, other = (timeline(entries, Every.WEEK, nothing) for entries in (votes, shuffled))
    assert [(period.start, period.end) for period in one] == [(period.start, period.end) for period in other]
    assert all(same(ours.tally, theirs.tally) for ours, theirs in zip(one, other, strict=True))


def test_without_votes_there_is_no_period() -> None:
    for periods in (Every.DAY, 5):
        assert timeline([], periods, nothing) == ()


def test_votes_of_one_moment_are_one_part() -> None:
    (period,) = timeline([vote("2025-03-01")] * 3, 1, nothing)
    assert period.votes == 3
    with pytest.raises(ValueError, match="too close together for 2 parts; ask for fewer"):
        timeline([vote("2025-03-01")] * 3, 2, nothing)


def test_too_many_periods_are_an_error_that_says_what_to_do() -> None:
    days = [at("2024-01-01"), at("2024-01-01") + timedelta(days=MOST_PERIODS)]
    votes = [(moment, "x", "y", Vote.A, 1.0) for moment in days]
    with pytest.raises(ValueError, match="more than 400 periods of a day; take longer periods"):
        timeline(votes, Every.DAY, nothing)
    assert (
        len(timeline([votes[0], (days[1] - timedelta(days=1), "x", "y", Vote.A, 1.0)], Every.DAY, nothing))
        == 400
    )
    assert len(timeline(votes, Every.WEEK, nothing)) == 58
    for parts in (0, -1, MOST_PERIODS + 1):
        with pytest.raises(ValueError, match="ask for 1 to 400"):
            timeline(votes, parts, nothing)


def test_a_wrong_date_of_long_ago_is_noticed_at_once() -> None:
    with pytest.raises(ValueError, match="leave out votes with a wrong date"):
        timeline([vote("0001-01-01"), vote("2025-03-01")], Every.DAY, nothing)


def test_a_board_per_week_follows_a_system_that_got_better() -> None:
    votes = [vote("2025-03-03", Vote.A, 10), vote("2025-03-03", Vote.B, 30), vote("2025-03-17", Vote.A, 30)]
    votes.append(vote("2025-03-17", Vote.B, 10))

    def board(tally: Tally) -> Ratings:
        return rate(tally, Options(resamples=50))

    weeks = timeline(votes, Every.WEEK, board)
    firsts = [week.rating and week.rating.standings[0].system for week in weeks]
    assert firsts == ["y", None, "x"]
