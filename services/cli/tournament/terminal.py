"""The results of a tournament as tables."""

from collections.abc import Iterator, Sequence

from rich.console import Group

from nuggetstream.domain.offline import NOTICE
from nuggetstream.files import tables
from nuggetstream.files.result_tables import result_table
from nuggetstream.files.table_data import Cell, Column
from nuggetstream.files.tables import Table
from nuggetstream.report.summary import Summary
from nuggetstream.report.terminal import coverage_line
from services.cli.tournament.standings import MEASURES, Json, Standings

ANSWER_COLUMNS = (
    tables.text("agent"),
    tables.count("answers"),
    tables.count("missing"),
    tables.count("calls"),
    tables.count("input_tokens", "tokens in"),
    tables.count("output_tokens", "tokens out"),
    tables.text("cost"),
    tables.text("alone"),
)
_RETRIEVAL_COLUMNS = (
    tables.text("agent"),
    tables.count("queries", "labelled queries"),
    *(tables.number(title) for title in MEASURES),
)
_PAIR_COLUMNS = (
    tables.text("system", "agent"),
    tables.text("opponent"),
    *(
        tables.number(name, title, digits=0)
        for name, title in (("wins", "won"), ("tied", None), ("losses", "lost"))
    ),
)
_SHARED = (
    "A call that several agents need is made once, and counts for the first of them; alone: what the tokens "
    "of an agent cost at the price of single calls, nothing shared"
)


def printed_tables(standings: Standings, summary: Summary) -> Group:
    """All tables, with how many battles they rest on."""
    lines = [*([NOTICE] if summary.offline else []), coverage_line(summary)]
    return Group(*lines, *(part for table in _tables(standings) for part in ("", result_table(table))))


def row_of(columns: Sequence[Column], values: Json) -> tuple[Cell, ...]:
    """The cells of a row that JSON has by name; bounds of an interval are two names."""
    return tuple(
        (values.get(column.names[0]), values.get(column.names[1]))
        if len(column.names) > 1
        else values.get(column.names[0])
        for column in columns
    )


def money(cost: Json | None) -> str | None:
    """What answers cost; None where that is not known."""
    return None if cost is None else f"{float(cost['amount']):.4f} {cost['currency']}"


def agent_row(columns: Sequence[Column], agent: Json) -> tuple[Cell, ...]:
    """What is known about an agent, from its object in tournament.json."""
    costs = {name: money(agent[name]) for name in ("cost", "alone")}
    return row_of(columns, agent | (agent["retrieval"] or {}) | costs)


def _tables(standings: Standings) -> Iterator[Table]:
    content = standings.as_json()
    agents = content["agents"]
    for lens in standings.boards:
        yield _board(agents, lens)
    yield _of_agents("Answers", ANSWER_COLUMNS, agents, (_SHARED,))
    if standings.retrieval is not None:
        yield _of_agents("Retrieval", _RETRIEVAL_COLUMNS, agents)
    if standings.experts is not None:
        yield standings.experts
    for lens in standings.pairs:
        own = [
            pair | {"tied": pair["ties"] + pair["both_bad"]}
            for pair in content["pairs"]
            if pair["lens"] == lens
        ]
        yield Table(
            f"Pairs by the {lens} lens", _PAIR_COLUMNS, tuple(row_of(_PAIR_COLUMNS, pair) for pair in own)
        )


def _of_agents(
    title: str, columns: Sequence[Column], agents: Sequence[Json], notes: tuple[str, ...] = ()
) -> Table:
    return Table(title, tuple(columns), tuple(agent_row(columns, agent) for agent in agents), notes)


def _board(agents: Sequence[Json], lens: str) -> Table:
    """Bradley-Terry ratings by one lens, those of the judge beside Elo."""
    columns = (
        tables.count("rank"),
        tables.text("agent"),
        tables.number("rating", digits=0),
        tables.interval("low", "high", "interval", digits=0),
        *([tables.number("elo", "Elo", digits=0)] if lens == "judge" else []),
        tables.text("unrankable", "remark"),
    )
    rated = [
        agent | (agent["ratings"][lens] or {"rating": None, "unrankable": "no battle"}) for agent in agents
    ]
    rated.sort(key=lambda row: (row["rating"] is None, -(row["rating"] or 0.0)))
    return Table(f"Agents by the {lens} lens", columns, tuple(row_of(columns, row) for row in rated))
