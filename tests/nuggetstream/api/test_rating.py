"""`ns.rate` is the rating model, asked with plain words and plain votes."""

import pandas as pd
import polars as pl
import pytest

import nuggetstream as ns
from nuggetstream.domain.battle import Vote
from nuggetstream.files.opening import UnusableFile
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.model import rate as rate_counts
from nuggetstream.ratings.options import AnchorNotRanked, InvalidOption, Options
from nuggetstream.ratings.study.sources import UnknownSource
from nuggetstream.ratings.ties import TiePolicy
from tests.evaluated import file_of, round_robin

WINS = (
    [("atlas", "birch", "a")] * 30
    + [("atlas", "birch", "b")] * 10
    + [("birch", "cobalt", "a")] * 20
    + [("birch", "cobalt", "b")] * 15
    + [("atlas", "cobalt", "tie")] * 12
)


def board(ratings: Ratings) -> dict[str, tuple[float | None, float | None, float | None]]:
    return {standing.system: (standing.rating, standing.low, standing.high) for standing in ratings.standings}


def test_the_ratings_are_those_of_the_model_on_the_counts() -> None:
    outcomes = {"a": Vote.A, "b": Vote.B, "tie": Vote.TIE}
    tally = Tally.count([(a, b, outcomes[winner], 1) for a, b, winner in WINS])
    assert board(ns.rate(WINS)) == board(rate_counts(tally))
    davidson = Options(policy=TiePolicy.DAVIDSON, resamples=50, level=0.9, seed=7)
    ours = ns.rate(WINS, ties="davidson", resamples=50, level=0.9, seed=7)
    assert board(ours) == board(rate_counts(tally, davidson))


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_frames_and_files_are_rated_alike(library: type) -> None:
    rows = [{"model_a": a, "model_b": b, "winner": winner} for a, b, winner in WINS]
    assert board(ns.rate(library(rows))) == board(ns.rate(WINS))


def test_ratings_show_themselves() -> None:
    ratings = ns.rate([*WINS, ("dune", "atlas", "a")])
    shown = str(ratings)
    assert "95% interval" in shown
    assert "never lost or tied" in shown
    frame = ratings.to_frame()
    assert frame["system"].to_list() == ["atlas", "birch", "cobalt", "dune"]
    assert frame["rank"].to_list() == [1, 2, 2, None]
    assert frame["rating"].to_list()[0] == ratings["atlas"].rating
    assert (frame["low"][0], frame["high"][3]) == (ratings["atlas"].low, None)
    pairs = ratings.pairs_table().to_frame()
    assert (pairs.height, pairs["battles"].sum()) == (6, len(WINS) + 1)
    assert ratings.to_latex().count(r"\\") == 5


def test_several_sources_have_weights() -> None:
    judge = [("atlas", "birch", "b")] * 40
    alone, both = ns.rate(WINS), ns.rate({"people": WINS, "judge": judge}, weights={"judge": 0.5})
    assert [(share.source, share.weight) for share in both.shares] == [("people", 1.0), ("judge", 0.5)]
    assert both["birch"].rating > alone["birch"].rating  # type: ignore[operator]


def test_votes_of_people_correct_automatic_ones() -> None:
    automatic = [
        {"id": f"{number}", "a": "atlas", "b": "birch", "winner": "a" if number % 3 else "b"}
        for number in range(60)
    ]
    human = [row | {"winner": "b" if number % 4 else "a"} for number, row in enumerate(automatic[:30])]
    combined = ns.rate(automatic, human=human).combined
    assert combined is not None
    frame = combined.to_frame()
    assert sorted(frame["system"]) == ["atlas", "birch"]
    assert frame["human_battles"].to_list() == [30, 30]
    assert (frame["combined_low"] < frame["combined"]).all()
    unread = ns.read_votes(automatic)
    with pytest.raises(InvalidOption, match=r"was read without battles; read_votes\(..., battle=True\)"):
        ns.rate(unread, human=human)
    with pytest.raises(InvalidOption, match="rate the others one by one"):
        ns.rate({"x": automatic, "y": automatic}, human=human)


def test_style_that_was_read_is_taken_out() -> None:
    rows = [
        {
            "a": "atlas",
            "b": "birch",
            "winner": "a" if number % 3 else "b",
            "length_a": 10 + number % 5,
            "length_b": 9,
        }
        for number in range(60)
    ]
    assert ns.rate(rows).equal_style is None
    styled = ns.rate(ns.read_votes(rows, features=["length"])).equal_style
    assert styled is not None
    assert set(styled.to_frame()["system"]) == {"atlas", "birch"}
    assert [one.feature for one in styled.coefficients] == ["length"]
    texts = [row | {"text_a": "x" * (number % 7), "text_b": "- x\n"} for number, row in enumerate(rows)]
    assert ns.read_votes(texts, style=True).features == ("length", "citations", "headers", "lists", "bold")
    with pytest.raises(InvalidOption, match="some sources carry amounts of style that others lack"):
        ns.rate({"x": ns.read_votes(rows, features=["length"]), "y": rows})


def test_results_of_an_evaluation_are_rated_by_lens(tmp_path) -> None:  # type: ignore[no-untyped-def]
    path = file_of(tmp_path, round_robin())
    ratings = ns.rate(
        {lens: ns.read_votes(path, lens=lens) for lens in ("human", "judge")}, weights={"judge": 0.2}
    )
    assert [standing.system for standing in ratings.standings] == ["strong", "middle", "weak"]


def test_a_system_without_votes_is_listed_with_its_reason() -> None:
    assert ns.rate(WINS, systems=["dune"])["dune"].unrankable is not None


def test_what_cannot_be_met_is_named() -> None:
    with pytest.raises(InvalidOption, match="ties: is 'none'; expected one of half, drop"):
        ns.rate(WINS, ties="none")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="level: 2"):
        ns.rate(WINS, level=2.0)
    with pytest.raises(AnchorNotRanked, match="'dune' has no battle here"):
        ns.rate(WINS, anchor=("dune", 1000))
    with pytest.raises(UnknownSource, match="'judge' is no source; there is people"):
        ns.rate({"people": WINS}, weights={"judge": 1.0})
    with pytest.raises(UnknownSource, match="source 'people' has weight 0; expected above 0"):
        ns.rate({"people": WINS}, weights={"people": 0.0})
    with pytest.raises(UnusableFile, match="rows, row 1: winner"):
        ns.rate([("x", "y", "a"), ("x", "y", "?")])
    with pytest.raises(UnusableFile, match="there is no source"):
        ns.rate({})


DATED = [
    {"a": "atlas", "b": "birch", "winner": winner, "created_at": f"2026-0{month}-10T12:00:00Z"}
    for month, winners in ((1, "aab"), (3, "abb"))
    for winner in winners
]


def test_dated_votes_are_rated_by_period() -> None:
    over_time = ns.rate_over_time(pl.DataFrame(DATED), "month", resamples=50)
    assert [period.votes for period in over_time.periods] == [3, 0, 3]
    frame = over_time.to_frame()
    assert frame["start"].dt.month().to_list() == [1, 1, 2, 3, 3]
    assert frame["system"].to_list() == ["atlas", "birch", None, "birch", "atlas"]
    assert "2026-02-01" in str(over_time)
    alone = ns.rate(DATED[:3], resamples=50)
    assert over_time.periods[0].rating is not None
    assert board(over_time.periods[0].rating) == board(alone)
    together = ns.rate_over_time(DATED, 2, cumulative=True, resamples=50)
    assert [period.votes for period in together.periods] == [3, 6]


def test_votes_without_a_time_are_no_periods() -> None:
    with pytest.raises(UnusableFile, match=r"created_at or .* is no column, see time="):
        ns.rate_over_time(WINS)
    with pytest.raises(InvalidOption, match="every: is 'year'; expected one of day, week, month"):
        ns.rate_over_time(DATED, "year")  # type: ignore[arg-type]
    with pytest.raises(InvalidOption, match="needs votes with a time"):
        ns.rate_over_time(ns.read_votes(WINS))


def test_advice_shows_itself() -> None:
    ratings = ns.rate(WINS)
    advice = ratings.advice(count=2)
    assert advice.to_frame().select("above", "below").rows() == [("atlas", "birch"), ("birch", "cobalt")]
    assert "with probability 0.8" in str(advice)
    assert len(advice.next) == 2


def test_an_argument_that_nothing_reads_is_rejected() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'tie'; Choices are ties, intervals"):
        ns.rate(WINS, tie="half")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'wnner'; VoteColumns are a, b, winner"):
        ns.read_votes(WINS, wnner="x")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'items'; LabelNames are item, worker"):
        ns.crowd_agreement([("x", "y", 1)], items="x")  # type: ignore[call-arg]
