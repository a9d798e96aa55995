"""Ratings over time of votes from files."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.moments import moment_of
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.votes import ReadOptions
from nuggetstream.ratings.options import Anchor, Every, InvalidOption, Options
from nuggetstream.ratings.study.over_time import over_time
from nuggetstream.ratings.study.sources import Weighed, gather
from tests.voted import source, vote

QUICK = Options(resamples=50)


def on(day: str, a: str, b: str, count: int = 1, **more: object) -> Weighed:
    return source(vote(a, b, Vote.A, count, time=datetime.fromisoformat(day).replace(tzinfo=UTC), **more))


def together(*parts: Weighed) -> Weighed:
    votes = tuple(row for part in parts for row in part.source.votes)
    return replace(parts[0], source=replace(parts[0].source, votes=votes))


MARCH = together(
    on("2025-03-01", "x", "y", 3),
    on("2025-03-31T23:59:59", "y", "x", 1),
    on("2025-05-01", "y", "x", 3),
    on("2025-05-02", "x", "y", 1),
)


def test_a_vote_at_the_start_of_a_period_belongs_to_it_and_an_empty_period_has_no_rating() -> None:
    periods = over_time([MARCH], QUICK, Every.MONTH)
    assert [period.votes for period in periods] == [4, 0, 4]
    firsts = [period.rating and period.rating.standings[0].system for period in periods]
    assert firsts == ["x", None, "y"]


def test_cumulative_periods_end_with_the_board_of_all_votes() -> None:
    periods = over_time([MARCH], QUICK, Every.MONTH, cumulative=True)
    assert [period.votes for period in periods] == [4, 4, 8]
    last = periods[-1].rating
    assert last is not None
    assert last["x"].rating == pytest.approx(1000)
    assert {period.start for period in periods} == {datetime(2025, 3, 1, tzinfo=UTC)}


def test_weights_and_clusters_count_in_every_period() -> None:
    votes = together(
        on("2025-03-01", "x", "y", weight=2.0, cluster="q"),
        on("2025-03-02", "y", "x", weight=1.0, cluster="r"),
    )
    (period,) = over_time([votes], QUICK, Every.MONTH)
    assert period.rating is not None
    assert period.rating["x"].wins == 2.0


def test_an_anchor_is_left_out_because_a_period_may_lack_it() -> None:
    periods = over_time([MARCH], replace(QUICK, anchor=Anchor("x", 1500.0)), Every.MONTH)
    assert periods[0].rating is not None
    assert periods[0].rating.options.anchor is None


def test_votes_without_a_time_and_too_many_periods_are_rejected() -> None:
    with pytest.raises(InvalidOption, match="over_time: needs votes with a time"):
        over_time([source(vote("x", "y", Vote.A))], QUICK, Every.DAY)
    far = together(on("1990-01-01", "x", "y"), on("2025-01-01", "y", "x"))
    with pytest.raises(InvalidOption, match=r"over_time: .*more than 400 periods"):
        over_time([far], QUICK, Every.DAY)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2025-05-04", datetime(2025, 5, 4, tzinfo=UTC)),
        ("2025-05-04 12:30", datetime(2025, 5, 4, 12, 30, tzinfo=UTC)),
        ("2025-05-04T12:30:00Z", datetime(2025, 5, 4, 12, 30, tzinfo=UTC)),
        ("2025-05-04T12:30:00-05:00", datetime(2025, 5, 4, 17, 30, tzinfo=UTC)),
        ("1746360000", datetime(2025, 5, 4, 12, tzinfo=UTC)),
        ("1746360000000", datetime(2025, 5, 4, 12, tzinfo=UTC)),
    ],
)
def test_a_time_is_read_as_files_spell_it(text: str, moment: datetime) -> None:
    assert moment_of(text) == moment


@pytest.mark.parametrize("text", ["yesterday", "nan", "inf", "1e300", "2025-13-01"])
def test_what_is_no_time_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="expected a time such as"):
        moment_of(text)


def test_a_row_without_a_time_is_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("a,b,winner,date\nx,y,a,2025-05-04\nx,y,b,soon\n")
    with pytest.raises(UnusableFile, match=r"votes.csv:3: date: is 'soon'"):
        gather([path], {}, ReadOptions(columns=NamedColumns(needs_time=True)))
