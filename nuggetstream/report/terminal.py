"""Summaries and leaderboards as tables for a terminal or a text file."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from rich.table import Table

from nuggetstream.files.cells import named, table
from nuggetstream.files.numerals import between, fixed, number, part_of, percent
from nuggetstream.ratings.standing import Standing
from nuggetstream.ratings.terminal import grid, leaderboard
from nuggetstream.report.reasons import in_words
from nuggetstream.report.summary import AgreementRow, Summary
from nuggetstream.statistics.agreement import Agreement

_STANDINGS = TypeAdapter(tuple[Standing, ...])


def coverage_line(summary: Summary) -> str:
    """How much of what was received could be scored, and why the rest was not."""
    line = f"scored {part_of(summary.scored, summary.received, 'battles')} received"
    if not summary.failed:
        return line
    reasons = ", ".join(f"{reason} ({count})" for reason, count in in_words(summary.reasons).items())
    return f"{line}; {summary.failed} not scored: {reasons}"


def systems_table(summary: Summary) -> Table:
    """Mean All Score and win rates by lens, a row per system."""
    columns = ("system", "battles", "All Score", "scored", "win rate: human", "nugget", "judge")
    rows = (
        (
            *(named(row.system), str(row.battles), number(row.mean_all_score), str(row.scored)),
            *(percent(row.win_rates[lens]) for lens in ("human", "nugget", "judge")),
        )
        for row in summary.systems
    )
    return grid("Systems", columns, rows, _which_judge(summary))


def _which_judge(summary: Summary) -> str | None:
    if len(summary.judges) <= 1:
        return None
    first, *others = [named(judge.evaluator) for judge in summary.judges]
    return f"Judge: {first}; where it gave no verdict, {', else '.join(others)}."


def agreement_table(summary: Summary) -> Table:
    """How often predictors agree with people: a row per human dimension, a column per predictor."""
    predictors = list(dict.fromkeys(row.predictor for row in summary.agreements))
    printed = table(
        "Agreement with human preferences",
        *("dimension", *(name.replace(" ", "\n", 1) for name in predictors), "compared\nof labelled"),
        text=["dimension"],
        caption="Share of battles with its 95% interval: a bootstrap over queries, or Wilson's where all "
        "queries agree to the same degree. A predicted tie counts half; battles that people call a tie are "
        f"left out.{_chance(summary.agreements)} Kappa and counts are in summary.json.",
    )
    for dimension in dict.fromkeys(row.dimension for row in summary.agreements):
        rows = {row.predictor: row for row in summary.agreements if row.dimension == dimension}
        first = rows[predictors[0]]
        labelled = first.agreement.compared + first.agreement.reference_ties + first.unscored
        cells = (_share(rows[name].agreement) for name in predictors)
        printed.add_row(named(dimension), *cells, part_of(first.agreement.compared, labelled))
    return printed


def _chance(rows: Sequence[AgreementRow]) -> str:
    """Which predictors are not shown to be above chance, and on which dimensions if not on all."""
    doubtful = [row for row in rows if not row.agreement.is_above_chance]
    if not doubtful:
        return ""
    if len(doubtful) == len(rows):
        return " No predictor is shown to be above chance, 0.5."
    parts = []
    for predictor in dict.fromkeys(row.predictor for row in doubtful):
        on = [row.dimension for row in doubtful if row.predictor == predictor]
        everywhere = len(on) == sum(row.predictor == predictor for row in rows)
        parts.append(predictor if everywhere else f"{predictor} on {', '.join(on)}")
    return f" Not shown to be above chance, 0.5: {'; '.join(parts)}."


def board_table(board: Mapping[str, Any]) -> Table:
    """One leaderboard as the gateway returns it."""
    scored = part_of(board["scored"], board["received"], "battles")
    title = f"{board['lens'].capitalize()} lens: {scored}"
    method = f"Bradley-Terry, tie policy {board['tie_policy']}, {percent(board['level'], 0)} intervals."
    caption = " ".join((method, *(note["text"] for note in board["notes"])))
    return leaderboard(title, _STANDINGS.validate_python(board["standings"]), caption=caption)


def _share(agreement: Agreement) -> str:
    if agreement.share is None or agreement.low is None or agreement.high is None:
        return number(agreement.share)
    return f"{fixed(agreement.share, 3)}\n{between(fixed(agreement.low, 2), fixed(agreement.high, 2))}"
