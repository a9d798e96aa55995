"""The chapter about a tournament in the report of its battles.

results.jsonl, and tournament.json beside it  ->  agents and their costs; evaluators beside experts
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nuggetstream.figures.charts import label
from nuggetstream.figures.figure import Figure
from nuggetstream.figures.measurements import limits_figure
from nuggetstream.files import tables
from nuggetstream.files.numerals import many, number
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.table_data import Cell, Column, Kind
from nuggetstream.files.table_writing import cells_of
from nuggetstream.files.text import read_text
from nuggetstream.report.blocks import Block, Figures, NotMeasured, Table
from nuggetstream.report.section import Chapter, Content, Part, Section
from nuggetstream.report.sections import CHAPTERS
from services.cli.tournament.experts import EXPERT_COLUMNS
from services.cli.tournament.standings import MEASURES, STANDINGS, Json
from services.cli.tournament.terminal import ANSWER_COLUMNS, agent_row, row_of

_AGENT_COLUMNS = (
    *ANSWER_COLUMNS[:3],
    tables.number("elo", "Elo", digits=0),
    *(tables.number(title) for title in MEASURES),
    *ANSWER_COLUMNS[3:-1],
    tables.text("alone", "cost, nothing shared"),
)


@dataclass(frozen=True, slots=True)
class Agents:
    """The agents as tournament.json has them."""

    agents: Sequence[Json]


@dataclass(frozen=True, slots=True)
class Experts:
    """Evaluators beside experts as tournament.json has them; empty without experts."""

    experts: Sequence[Json]
    expert_grades: Sequence[Json]
    expert_notes: Sequence[str]


def chapters_of(results: Path) -> tuple[Chapter, ...]:
    """What a report of results shows: of a tournament, which has its standings beside them, a chapter more.

    Args:
        results: The file of results.

    Raises:
        UnusableFile: The standings cannot be read.
    """
    path = results.parent / STANDINGS
    if not path.exists():
        return CHAPTERS
    try:
        content = json.loads(read_text(path))
        agents = Agents(content["agents"])
        experts = Experts(*(content.get(name, []) for name in Experts.__dataclass_fields__))
        drawn = draw_agents(agents), draw_experts(experts)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UnusableFile(f"{path}: holds no standings; play the tournament again") from error
    parts = (
        Part("agents", lambda _: agents, lambda _: drawn[0]),
        Part("experts", lambda _: experts, lambda _: drawn[1]),
    )
    question = "What do the answers of each agent cost, and do evaluators grade them as experts do?"
    section = Section("agents", "Agents of the tournament", question, parts)
    return (CHAPTERS[0], Chapter("tournament", "The tournament", (section,)), *CHAPTERS[1:])


def draw_agents(played: Agents) -> Content:
    """Answers, Elo, retrieval and cost of each agent."""
    rows = [agent_row(_AGENT_COLUMNS, agent) for agent in played.agents]
    return Content(
        findings=(),
        reading="Elo is the mean over shuffled orders of the games by the judge. MRR and nDCG are means over "
        "the queries that have labels and that the agent answered. A call that several agents need is made "
        "once, and its cost counts for the first of them; beside it is what its tokens cost at the price of "
        "single calls. A dash is not known.",
        basis=many(len(rows), "agent"),
        blocks=(_table("Agents", _AGENT_COLUMNS, rows),),
    )


def draw_experts(played: Experts) -> Content:
    """Correlations, paired tests and Bland and Altman's plots, one per evaluator and criterion."""
    blocks: list[Block] = [NotMeasured("agreement with experts", "no plan names grades of experts")]
    if played.experts:
        rows = [row_of(EXPERT_COLUMNS, row) for row in played.experts]
        figures = {_name(row): (_limits(row, played),) for row in played.experts}
        blocks = [
            Figures("Evaluator and criterion", figures),
            _table("Evaluators and experts", EXPERT_COLUMNS, rows, "; ".join(played.expert_notes)),
        ]
    return Content(
        findings=tuple(
            f"{_name(row)}: evaluator minus experts is {number(row['bias'], 2)} on average, and about 95% of "
            f"answers lie between {number(row['low'], 2)} and {number(row['high'], 2)}."
            for row in played.experts[:1]
            if row["bias"] is not None
        ),
        reading="tau is Kendall's and rho Spearman's, over the answers that both graded; t is the paired "
        "test of equal means. The plot is Bland and Altman's: the grade of the evaluator minus that of the "
        "experts, by the mean of both; about 95% of answers lie between the dashed lines.",
        basis=many(len(played.expert_grades), "grade") + " of both",
        blocks=tuple(blocks),
    )


def _name(row: Json) -> str:
    return f"{row['evaluator']}, {row['criterion']}"


def _limits(row: Json, played: Experts) -> Figure:
    own = [grade for grade in played.expert_grades if _name(grade) == _name(row)]
    points = [(f"{grade['agent']} {grade['query']}", grade["grade"], grade["expert_grade"]) for grade in own]
    return limits_figure(
        f"{_name(row)}: {many(len(own), 'answer')}",
        points,
        (row["bias"], row["low"], row["high"]),
        [f"{label(name)}: {number(ours, 2)}, experts {number(theirs, 2)}" for name, ours, theirs in points],
        axes=("mean grade", "evaluator minus experts"),
    )


def _table(
    caption: str, columns: Sequence[Column], rows: Sequence[tuple[Cell, ...]], note: str | None = None
) -> Table:
    texts = tuple(index for index, column in enumerate(columns) if column.kind is Kind.TEXT)
    return Table(
        caption=caption,
        columns=tuple(column.header for column in columns),
        rows=[tuple(cells_of(columns, row)) for row in rows],
        note=note,
        text_columns=texts,
    )
