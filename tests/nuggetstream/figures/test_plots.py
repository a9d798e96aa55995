"""What `plot()` draws are the numbers of the result."""

import inspect
from typing import Any, get_type_hints

import pytest

import nuggetstream as ns
from nuggetstream.domain.graded_passage import GradedPassage
from nuggetstream.domain.lens import Lens
from nuggetstream.figures.drawn import Drawn, NothingToDraw
from nuggetstream.files.tables import Tabular
from nuggetstream.views.comparisons import PairsView
from nuggetstream.views.ratings import BoardView, TimelineView

WINS = (
    [("atlas", "birch", "a")] * 30
    + [("atlas", "birch", "b")] * 10
    + [("birch", "cobalt", "a")] * 20
    + [("birch", "cobalt", "tie")] * 5
    + [("cobalt", "birch", "a")] * 15
    + [("dune", "atlas", "a")]
)


def drawn(result: Any) -> Any:
    """The first trace of a result's figure."""
    return result.plot().data[0]


def test_ratings_are_marks_with_their_intervals() -> None:
    ratings = ns.rate(WINS, resamples=50, level=0.9)
    figure = ratings.plot()
    (marks,) = figure.data
    rated = [standing for standing in ratings.standings if standing.rating is not None]
    assert figure.layout.title.text == "Ratings, 90% intervals"
    assert [name.strip() for name in figure.layout.yaxis.ticktext] == ["atlas", "birch", "cobalt"]
    assert list(marks.x) == [standing.rating for standing in rated]
    assert list(marks.y) == [0, 1, 2]
    for index, standing in enumerate(rated):
        assert marks.x[index] + marks.error_x.array[index] == pytest.approx(standing.high)
        assert marks.x[index] - marks.error_x.arrayminus[index] == pytest.approx(standing.low)


def test_pairs_are_a_matrix_of_the_points_that_rows_took_from_columns() -> None:
    figure = ns.rate(WINS, resamples=10).pairs_table().plot()
    (heat,) = figure.data
    assert [name.strip() for name in figure.layout.yaxis.ticktext] == ["atlas", "birch", "cobalt", "dune"]
    assert [list(row) for row in heat.z] == [
        [None, 0.75, None, 0.0],  # 30 of 40 battles
        [0.25, None, 0.5625, None],  # 20 wins and 5 ties of 40
        [None, 0.4375, None, None],
        [1.0, None, None, None],
    ]
    assert list(heat.text[1]) == ["25%<br>40", "", "56%<br>40", ""]
    assert "birch against cobalt: 56.2% of the points in 40 battles" in heat.customdata[1]


def test_agreement_is_a_matrix_of_the_counts() -> None:
    result = ns.agreement(["a", "a", "a", "b", None], ["a", "a", "tie", "b", "b"])
    figure = result.plot()
    (heat,) = figure.data
    assert (heat.x, heat.y) == (("a", "tie", "b"), ("a", "tie", "b"))
    assert [list(row) for row in heat.z] == [[2 / 3, 1 / 3, 0], [0, 0, 0], [0, 0, 1]]
    assert list(heat.text[0]) == ["2<br>67%", "1<br>33%", "0<br>0%"]
    assert list(heat.text[1]) == ["0", "0", "0"]  # no share of nothing
    assert (figure.layout.xaxis.type, figure.layout.yaxis.title.text) == ("category", "the first")
    assert figure.layout.title.text == "Agreement: 75.0% of 4 items with equal labels"


def dated(month: int, *winners: str) -> list[dict[str, str]]:
    return [{"a": "atlas", "b": "birch", "winner": winner, "time": f"2026-0{month}-10"} for winner in winners]


def test_ratings_over_time_are_lines_that_break_where_there_is_no_rating() -> None:
    votes = dated(3, "a", "a", "b") + dated(5, "a", "b", "b")
    result = ns.rate_over_time(votes, "month", resamples=20)
    figure = result.plot()
    assert [line.name for line in figure.data] == ["atlas", "birch"]
    march, april, may = result.periods
    assert april.rating is None
    (atlas, _) = figure.data
    assert atlas.x == ("2026-03-01T00:00:00+00:00", "2026-04-01T00:00:00+00:00", "2026-05-01T00:00:00+00:00")
    assert march.rating is not None
    assert may.rating is not None
    assert list(atlas.y) == [march.rating["atlas"].rating, None, may.rating["atlas"].rating]
    high = march.rating["atlas"].high
    assert high is not None
    assert atlas.y[0] + atlas.error_y.array[0] == pytest.approx(high)
    cumulative = ns.rate_over_time(votes, "month", cumulative=True, resamples=20)
    assert [moment[:7] for moment in drawn(cumulative).x] == ["2026-04", "2026-05", "2026-06"]
    assert None not in drawn(cumulative).y


def test_paired_numbers_are_differences_by_means_between_limits_of_agreement() -> None:
    result = ns.paired({"q1": 1, "q2": 2, "q3": 3}, {"q1": 0, "q2": 0, "q3": 0})
    figure = result.plot()
    (dots,) = figure.data
    assert (list(dots.x), list(dots.y)) == ([0.5, 1.0, 1.5], [1.0, 2.0, 3.0])
    assert dots.customdata[1] == "q2: 2.000 and 0.000"
    assert result.limits is not None
    assert [line.y0 for line in figure.layout.shapes] == [2.0, result.limits.low, result.limits.high]
    alone = ns.paired([1.0, 2.0], [0.0, 0.5]).plot()
    assert len(alone.layout.shapes) == 0  # limits need 3 pairs


def test_any_other_result_has_a_mark_per_row_with_its_error_or_interval() -> None:
    grades = {"p1": {"moon": 5, "sun": 0}, "p2": {"moon": 3, "sun": 4}}
    passages = [
        GradedPassage(
            query="tides", passage=name, grades=own, ranks={"reef": 1, "kelp": 2} if name == "p1" else {}
        )
        for name, own in grades.items()
    ]
    coverage = ns.rubric_cover(passages, k=1)
    (marks,) = coverage.plot().data
    assert list(marks.x) == [system.score.cover for system in coverage.systems]
    errors = [system.score.cover_error for system in coverage.systems]
    assert list(marks.error_x.array) == [error or 0 for error in errors]


def test_every_result_of_a_public_function_draws_itself() -> None:
    """But a list of files or battles, and results without a number: findings, labels, a history."""
    without = {"explain", "read_votes", "rubric_edit", "rubric_qrels", "rubric_verify"}
    functions = {name: getattr(ns, name) for name in dir(ns) if inspect.isfunction(getattr(ns, name))}
    results = {name: get_type_hints(inspect.unwrap(each)).get("return") for name, each in functions.items()}
    shown = {name for name, kind in results.items() if inspect.isclass(kind) and issubclass(kind, Tabular)}
    assert {name for name in shown if not issubclass(results[name], Drawn)} == without


def test_what_a_platform_gives_is_drawn_as_ratings_of_files_are() -> None:
    ratings = ns.rate(WINS, resamples=20)
    common = {"arena": "<demo>", "lens": Lens.HUMAN, "scored": 81, "received": 90, "state": ratings.state}
    method: dict[str, Any] = {"level": 0.95}
    board = BoardView.model_construct(**common, standings=list(ratings.standings), notes=[], level=0.95)
    figure = board.plot()
    assert figure.data[0].x == drawn(ratings).x
    assert figure.layout.title.text == "&lt;demo&gt;: human, 95% intervals"
    pairs = PairsView.model_construct(**common, pairs=list(ratings.pairs), method=_Method(**method))
    assert drawn(pairs).z == drawn(ratings.pairs_table()).z
    empty = TimelineView.model_construct(**common, periods=[], method=_Method(**method))
    with pytest.raises(NothingToDraw, match="<demo>: human: there is no number to draw"):
        empty.plot()


class _Method:
    def __init__(self, level: float) -> None:
        self.level = level


def test_names_of_systems_are_no_tags_in_a_figure() -> None:
    votes = [("<b>x</b>", "y", winner) for winner in "aab"]
    ratings = ns.rate(votes, resamples=10)
    texts = str(ratings.plot().to_dict()) + str(ratings.pairs_table().plot().to_dict())
    assert "<b>" not in texts
    assert "&lt;b&gt;x&lt;/b&gt;" in texts


def test_what_has_no_number_is_not_drawn_and_a_notebook_shows_its_table_alone() -> None:
    ratings = ns.rate([("x", "y", "a")], resamples=10)
    with pytest.raises(NothingToDraw, match="Ratings: there is no number to draw"):
        ratings.plot()
    assert ratings._repr_html_() == ratings.table().to_html()


@pytest.mark.parametrize(
    "result",
    [
        ns.rate(WINS, resamples=10),
        ns.rate(WINS, resamples=10).pairs_table(),
        ns.agreement(["a", "b"], ["a", "a"]),
        ns.paired([1, 2, 3], [3, 1, 1]),
    ],
    ids=lambda result: type(result).__name__,
)
def test_a_notebook_shows_the_table_and_the_figure(result: Any) -> None:
    shown = result._repr_html_()
    assert shown.startswith("<table>")
    assert shown.index("</table>") < shown.index("Plotly.newPlot")
