"""Summaries and boards as tables for a terminal or a text file."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from nuggetstream.files.cells import named
from nuggetstream.files.numerals import MISSING, between, fixed, number, percent
from nuggetstream.report.summary import Summary
from nuggetstream.statistics.agreement import Agreement


def coverage_line(summary: Summary) -> str:
    """How much of what was received could be scored, and why not the rest."""
    line = f"scored {summary.scored} of {summary.received} battles received"
    if not summary.failed:
        return line
    reasons = ", ".join(f"{reason} ({count})" for reason, count in summary.reasons.items())
    return f"{line}; {summary.failed} failed: {reasons}"


def systems_table(summary: Summary) -> Table:
    """Per system: mean All Score and win rates by lens."""
    table = Table(title="Systems", title_justify="left")
    table.add_column("system")
    for name in ("battles", "All Score", "scored", "wins: human", "nugget", "judge"):
        table.add_column(name, justify="right")
    for row in summary.systems:
        rates = (percent(row.win_rates[lens]) for lens in ("human", "nugget", "judge"))
        table.add_row(
            named(row.system), str(row.battles), number(row.mean_all_score), str(row.scored), *rates
        )
    return table


def agreement_table(summary: Summary) -> Table:
    """Who agrees with people how often: a row per human dimension, a column per predictor."""
    table = Table(
        title="Agreement with human preferences",
        title_justify="left",
        caption="Share of battles, 95 % interval (bootstrap over queries; Wilson's where all agree alike). "
        "A predicted tie counts half; battles that people call a tie are left out. "
        "Kappa and counts: summary.json.",
        caption_justify="left",
    )
    predictors = list(dict.fromkeys(row.predictor for row in summary.agreements))
    table.add_column("dimension")
    for name in predictors:
        table.add_column(name.replace(" ", "\n", 1), justify="right")
    table.add_column("compared\nof labelled", justify="right")
    for dimension in dict.fromkeys(row.dimension for row in summary.agreements):
        rows = {row.predictor: row for row in summary.agreements if row.dimension == dimension}
        found = rows[predictors[0]].agreement
        labelled = found.compared + found.reference_ties + rows[predictors[0]].unscored
        cells = (_share(rows[name].agreement) for name in predictors)
        table.add_row(named(dimension), *cells, f"{found.compared}\n{labelled}")
    return table


def board_table(board: Mapping[str, Any]) -> Table:
    """One leaderboard as the gateway returns it."""
    title = f"{board['lens'].capitalize()} lens: {board['scored']} of {board['received']} battles"
    caption = f"Bradley-Terry, ties {board['tie_policy']}, {board['level']:.0%} intervals"
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    table.add_column("rank", justify="right")
    table.add_column("system")
    for name in ("rating", "interval", "P(first)", "won-lost-tied"):
        table.add_column(name, justify="right")
    for row in board["standings"]:
        table.add_row(*_standing(row))
    return table


def _share(found: Agreement) -> str:
    if found.share is None:
        return MISSING
    return f"{number(found.share)}\n{number(found.low, 2)}–{number(found.high, 2)}"


def _standing(row: Mapping[str, Any]) -> Sequence[str]:
    record = f"{row['wins']:.0f}-{row['losses']:.0f}-{row['ties']:.0f}"
    if row["rating"] is None:
        return MISSING, named(row["system"]), "not yet", row["unrankable"], MISSING, record
    ends = row["low"], row["high"]  # null where there is nothing but ties
    interval = MISSING if None in ends else between(*map(fixed, ends))
    first = percent(row["probability_first"])
    rank = MISSING if row["rank"] is None else str(row["rank"])
    return rank, named(row["system"]), fixed(row["rating"]), interval, first, record
