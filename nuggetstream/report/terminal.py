"""Summaries and leaderboards as tables for a terminal or a text file."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from nuggetstream.files.cells import named
from nuggetstream.files.numerals import MISSING, between, fixed, interval, number, part_of, percent
from nuggetstream.report.summary import Summary
from nuggetstream.statistics.agreement import Agreement


def coverage_line(summary: Summary) -> str:
    """How much of what was received could be scored, and why the rest was not."""
    line = f"scored {part_of(summary.scored, summary.received, 'battles')} received"
    if not summary.failed:
        return line
    reasons = ", ".join(f"{reason} ({count})" for reason, count in summary.reasons.items())
    return f"{line}; {summary.failed} not scored: {reasons}"


def systems_table(summary: Summary) -> Table:
    """Mean All Score and win rates by lens, a row per system."""
    table = Table(
        title="Systems", title_justify="left", caption=_which_judge(summary), caption_justify="left"
    )
    table.add_column("system")
    for name in ("battles", "All Score", "scored", "win rate: human", "nugget", "judge"):
        table.add_column(name, justify="right")
    for row in summary.systems:
        rates = (percent(row.win_rates[lens]) for lens in ("human", "nugget", "judge"))
        table.add_row(
            named(row.system), str(row.battles), number(row.mean_all_score), str(row.scored), *rates
        )
    return table


def _which_judge(summary: Summary) -> str | None:
    if len(summary.judges) <= 1:
        return None
    first, *others = [named(judge.evaluator) for judge in summary.judges]
    return f"Judge: {first}; where it gave no verdict, {', else '.join(others)}."


def agreement_table(summary: Summary) -> Table:
    """How often predictors agree with people: a row per human dimension, a column per predictor."""
    table = Table(
        title="Agreement with human preferences",
        title_justify="left",
        caption="Share of battles with its 95% interval: a bootstrap over queries, or Wilson's where all "
        "queries agree to the same degree. A predicted tie counts half; battles that people call a tie are "
        "left out. Kappa and counts are in summary.json.",
        caption_justify="left",
    )
    predictors = list(dict.fromkeys(row.predictor for row in summary.agreements))
    table.add_column("dimension", overflow="fold")
    for name in predictors:
        table.add_column(name.replace(" ", "\n", 1), justify="right")
    table.add_column("compared\nof labelled", justify="right")
    for dimension in dict.fromkeys(row.dimension for row in summary.agreements):
        rows = {row.predictor: row for row in summary.agreements if row.dimension == dimension}
        first = rows[predictors[0]]
        labelled = first.agreement.compared + first.agreement.reference_ties + first.unscored
        cells = (_share(rows[name].agreement) for name in predictors)
        table.add_row(named(dimension), *cells, f"{first.agreement.compared}\n{labelled}")
    return table


def board_table(board: Mapping[str, Any]) -> Table:
    """One leaderboard as the gateway returns it."""
    scored = part_of(board["scored"], board["received"], "battles")
    title = f"{board['lens'].capitalize()} lens: {scored}"
    method = f"Bradley-Terry, tie policy {board['tie_policy']}, {percent(board['level'], 0)} intervals."
    caption = " ".join((method, *(note["text"] for note in board["notes"])))
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("group")
    table.add_column("system")
    for name in ("rating", "interval", "P(first)", "won–lost–tied"):
        table.add_column(name, justify="right")
    for standing in board["standings"]:
        table.add_row(*_standing(standing))
    return table


def _share(agreement: Agreement) -> str:
    if agreement.share is None or agreement.low is None or agreement.high is None:
        return number(agreement.share)
    return f"{fixed(agreement.share, 3)}\n{between(fixed(agreement.low, 2), fixed(agreement.high, 2))}"


def _standing(standing: Mapping[str, Any]) -> Sequence[str]:
    counts = "-".join(fixed(standing[name]) for name in ("wins", "losses", "ties"))
    system = named(standing["system"])
    if standing["rating"] is None:
        return MISSING, MISSING, system, "not yet", standing["unrankable"], MISSING, counts
    return (
        MISSING if standing["rank"] is None else str(standing["rank"]),
        standing["group"] or MISSING,
        system,
        fixed(standing["rating"]),
        interval(standing["low"], standing["high"]),  # both null where there is nothing but ties
        percent(standing["probability_first"]),
        counts,
    )
