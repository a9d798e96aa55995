"""The results of a tournament as tables."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from nuggetstream.domain.offline import NOTICE
from nuggetstream.files.cells import named, table
from nuggetstream.files.numerals import MISSING, count, interval, number
from nuggetstream.files.result_tables import result_table
from nuggetstream.report.summary import Summary
from nuggetstream.report.terminal import coverage_line
from services.cli.tournament.standings import MEASURES, Standings

_TEXT = ("agent", "opponent", "remark")


def tables(standings: Standings, summary: Summary) -> Group:
    """All tables, with how many battles they rest on."""
    lines = [*([NOTICE] if summary.offline else []), coverage_line(summary)]
    return Group(*lines, *(part for each in _tables(standings) for part in ("", each)))


def _tables(standings: Standings) -> Iterator[RenderableType]:
    for lens in standings.boards:
        yield _board(standings, lens)
    yield _answers(standings)
    if standings.retrieval is not None:
        yield _retrieval(standings)
    if standings.experts is not None:
        yield result_table(standings.experts)
    for lens in standings.pairs:
        yield _pairs(standings, lens)


def _board(standings: Standings, lens: str) -> Table:
    """Bradley-Terry ratings by one lens, those of the judge beside Elo."""
    has_elo = lens == "judge"
    elo = ["Elo"] if has_elo else []
    rows = table(
        f"Agents by the {lens} lens", "rank", "agent", "rating", "interval", *elo, "remark", text=_TEXT
    )
    board = standings.boards[lens]

    def place(name: str) -> tuple[bool, float]:
        rating = board.get(name, {}).get("rating")
        return rating is None, -(rating or 0.0)

    for name in sorted(standings.agents, key=place):
        row: Mapping[str, Any] = board.get(name, {})
        rank = MISSING if row.get("rank") is None else str(row["rank"])
        remark = row.get("unrankable") or ("" if row else "no battle")
        bounds = interval(row.get("low"), row.get("high"))
        played = [number(standings.elo.get(name), 0)] if has_elo else []
        rows.add_row(rank, named(name), number(row.get("rating"), 0), bounds, *played, remark)
    return rows


def _answers(standings: Standings) -> Table:
    rows = table(
        "Answers",
        "agent",
        "answers",
        "missing",
        "calls",
        "tokens in",
        "tokens out",
        "cost",
        "alone",
        text=_TEXT,
    )
    rows.caption = (
        "A call that several agents need is made once, and counts for the first of them; alone: what the "
        "tokens of an agent cost at the price of single calls, nothing shared"
    )
    rows.caption_justify = "left"
    for name, own in standings.agents.items():
        numbers = (own.answers, own.missing, own.calls, own.input_tokens, own.output_tokens)
        shown = (MISSING if each is None else count(each) for each in numbers)
        money = (_money(amount, standings.currency) for amount in (own.cost, own.alone))
        rows.add_row(named(name), *shown, *money)
    return rows


def _money(amount: Decimal | None, currency: str) -> str:
    return MISSING if amount is None else f"{amount:.4f} {currency}"


def _retrieval(standings: Standings) -> Table:
    rows = table("Retrieval", "agent", "labelled queries", *MEASURES, text=_TEXT)
    for name, measured in (standings.retrieval or {}).items():
        values = (number(measured[title]) for title in MEASURES)
        rows.add_row(named(name), count(measured["queries"]), *values)
    return rows


def _pairs(standings: Standings, lens: str) -> Table:
    rows = table(f"Pairs by the {lens} lens", "agent", "opponent", "won", "tied", "lost", text=_TEXT)
    for each in standings.pairs[lens]:
        numbers = (each.wins, each.ties + each.both_bad, each.losses)
        rows.add_row(named(each.system), named(each.opponent), *map(count, numbers))
    return rows
