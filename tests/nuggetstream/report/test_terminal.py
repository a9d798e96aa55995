"""Tables for a person to read first."""

from io import StringIO
from typing import Any

from rich.console import Console

from nuggetstream.files.numerals import MISSING
from nuggetstream.report.summary import AgreementRow, Summary
from nuggetstream.report.terminal import agreement_table, board_table, coverage_line
from nuggetstream.statistics.agreement import Agreement


def standing(**changes: Any) -> dict[str, Any]:
    """One system on a board as the gateway returns it."""
    return {
        "system": "x", "rating": 1000.0, "low": 950.0, "high": 1050.0, "interval_state": "bounded", "rank": 1,
        "group": "a", "probability_first": 0.5, "provisional": False,
        "battles": 4, "wins": 1, "losses": 1, "ties": 2, "unrankable": None,
    } | changes  # fmt: skip


def test_a_board_of_ties_has_ratings_and_no_intervals() -> None:
    tied = standing(system="tied", low=None, high=None, interval_state="degenerate", probability_first=None)
    board = {"lens": "human", "scored": 4, "received": 4, "tie_policy": "half", "level": 0.95, "notes": []}
    table = board_table(board | {"standings": [standing(), tied]})
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["rating"] == ["1000", "1000"]
    assert columns["interval"] == ["950–1050", "degenerate"]
    assert columns["P(first)"] == ["50%", MISSING]


def test_a_board_shows_rank_groups_and_why_systems_have_no_rank() -> None:
    reason = "Ratings from fewer than 10 battles are provisional and have no rank: new."
    board = {
        "lens": "human", "scored": 4, "received": 4, "tie_policy": "half", "level": 0.95,
        "notes": [{"name": "provisional", "text": reason}],
    }  # fmt: skip
    new = standing(system="new", rank=None, group=None, probability_first=None)
    table = board_table(board | {"standings": [standing(), new]})
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert columns["rank"] == ["1", MISSING]
    assert columns["group"] == ["a", MISSING]
    assert reason in str(table.caption)


def test_a_negative_end_of_a_board_has_a_minus_sign_and_no_dash() -> None:
    board = {"lens": "human", "scored": 4, "received": 4, "tie_policy": "half", "level": 0.95, "notes": []}
    table = board_table(board | {"standings": [standing(rating=-5.0, low=-23.0, high=1010.0)]})
    columns = {str(column.header): list(column.cells) for column in table.columns}
    assert (columns["rating"], columns["interval"]) == (["−5"], ["−23 to 1010"])


def test_what_is_not_scored_is_said_in_words() -> None:
    reasons = {"judge: deadline": 2, "nuggetizer: nothing_to_score": 1, "Nobody states any nugget.": 1}
    line = coverage_line(Summary(5, 0, 1, 4, reasons, (), (), ()))
    assert line == (
        "scored 1 of 5 battles received; 4 not scored: judge: it took too long (2), "
        "the texts have no fact that answers the query (1), Nobody states any nugget (1)"
    )


def test_the_agreement_table_names_both_of_its_intervals() -> None:
    row = AgreementRow("judge", "vote", Agreement(1.0, 0.5, 1.0, 4, 0, 0), None, 0)
    summary = Summary(4, 0, 4, 0, {}, (), (), (row,))
    caption = str(agreement_table(summary).caption)
    assert "a bootstrap over queries, or Wilson's where all queries agree to the same degree" in caption


def test_a_system_named_like_markup_keeps_its_name() -> None:
    board = {"lens": "human", "scored": 4, "received": 4, "tie_policy": "half", "level": 0.95, "notes": []}
    console = Console(record=True, width=120, file=StringIO())
    console.print(board_table(board | {"standings": [standing(system="[red]fox[/red]")]}))
    assert "[red]fox[/red]" in console.export_text()
