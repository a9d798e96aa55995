"""How much of what was received could be scored, and why not the rest."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import plotly.graph_objects as go

from nuggetstream.domain.battle import Side
from nuggetstream.files.results import Results
from nuggetstream.report.blocks import Block, Fact, Facts, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREY, figure, names_axis, rows_height
from nuggetstream.report.section import Content, Section
from nuggetstream.report.summary import failure_counts
from nuggetstream.report.wording import of, percent, whole


@dataclass(frozen=True, slots=True)
class Coverage:
    """What the report rests on.

    Attributes:
        received: battles, those refused at the door included.
        scored: with nuggets assigned and a verdict.
        with_vote: with a human vote.
        with_nuggets: with a nugget preference.
        with_verdict: with a judge's verdict.
        reasons: "stage: reason" -> how often; one battle may have several.
        self_battles: of one system with itself; they count in no leaderboard.
        systems: system -> battles.
        languages: language -> battles; "not given" where there is none.
        judges: model of the judge -> battles.
    """

    file: str
    received: int
    refused: int
    scored: int
    with_vote: int
    with_nuggets: int
    with_verdict: int
    reasons: Mapping[str, int]
    self_battles: int
    queries: int
    systems: Mapping[str, int]
    arenas: Mapping[str, int]
    languages: Mapping[str, int]
    judges: Mapping[str, int]
    first: str | None
    last: str | None


def compute(results: Results) -> Coverage:
    """Count."""
    rows = results.battles
    moments = sorted(row.received_at for row in rows if row.received_at)
    systems = Counter(
        name for row in rows for name in dict.fromkeys(row.answer(side).system for side in Side)
    )
    return Coverage(
        file=results.name,
        received=results.received,
        refused=results.refused,
        scored=results.scored,
        with_vote=sum(row.human_vote is not None for row in rows),
        with_nuggets=sum(row.nugget_verdict is not None for row in rows),
        with_verdict=sum(bool(row.judgments) for row in rows),
        reasons=failure_counts(rows, results.refused),
        self_battles=sum(row.a.system == row.b.system for row in rows),
        queries=len({row.query for row in rows}),
        systems=dict(systems.most_common()),
        arenas=dict(Counter(row.arena for row in rows).most_common()),
        languages=dict(Counter(row.language or "not given" for row in rows).most_common()),
        judges=dict(Counter(judgment.model for row in rows for judgment in row.judgments[:1]).most_common()),
        first=moments[0].isoformat() if moments else None,
        last=moments[-1].isoformat() if moments else None,
    )


def draw(found: Coverage) -> Content:
    """Counts, coverage by source of preference, failures by reason."""
    blocks: list[Block] = [_facts(found), Figures("", {"": (_bars(found),)})]
    if found.reasons:
        rows = [(reason, whole(count)) for reason, count in found.reasons.items()]
        note = "A battle can fail in more than one stage. What failed is missing below, never zero."
        blocks.append(Table("Failures by stage and reason", ("stage: reason", "times"), rows, note))
    else:
        blocks.append(State("No stage gave up on any battle."))
    if found.self_battles:
        text = f"Battles of a system with itself: {whole(found.self_battles)}. No leaderboard counts them."
        blocks.append(State(text))
    missing = found.received - found.scored
    rest = "Nothing is missing." if not missing else f"{whole(missing)} are not, and are left out below."
    return Content(
        finding=f"{of(found.scored, found.received)} received are scored in full. {rest}",
        reading="A battle is scored when it has nuggets with labels and a judge's verdict. The bars "
        "show each source of preference on its own, of all battles received.",
        basis=of(found.scored, found.received),
        blocks=tuple(blocks),
    )


def _facts(found: Coverage) -> Facts:
    largest = next(iter(found.languages), "none")
    spoken = "language" if len(found.languages) == 1 else "languages"
    facts = [
        Fact(percent(found.scored / found.received, 0), "scored", of(found.scored, found.received)),
        Fact(whole(len(found.systems)), "systems", f"{whole(found.queries)} distinct queries"),
        Fact(whole(found.with_vote), "human votes", of(found.with_vote, found.received)),
        Fact(whole(len(found.languages)), spoken, f"most often: {largest}"),
    ]
    if found.judges:
        model, count = next(iter(found.judges.items()))
        facts.append(Fact(model, "judge's model", of(count, found.received)))
    return Facts(tuple(facts))


def _bars(found: Coverage) -> Figure:
    parts = {
        "human vote": found.with_vote,
        "nugget preference": found.with_nuggets,
        "judge's verdict": found.with_verdict,
        "scored": found.scored,
    }
    places, counts = list(range(len(parts))), list(parts.values())
    there = go.Bar(
        name="there",
        orientation="h",
        x=counts,
        y=places,
        marker={"color": BLUE},
        text=[f"{of(count, found.received, '')}" for count in counts],
        textposition="auto",
        hovertemplate="%{x} battles<extra></extra>",
    )
    gone = go.Bar(
        name="missing",
        orientation="h",
        x=[found.received - count for count in counts],
        y=places,
        marker={"color": GREY, "opacity": 0.45},
        hovertemplate="%{x} battles missing<extra></extra>",
    )
    alt = "; ".join(f"{name}: {of(count, found.received)}" for name, count in parts.items())
    axes = {"yaxis": names_axis(list(parts)), "xaxis": {"title": {"text": "battles received"}}}
    return figure("Coverage", alt, [there, gone], rows_height(len(parts)), axes)


SECTION = Section(
    name="coverage",
    title="Coverage",
    question="How much of what was received could be scored?",
    compute=compute,
    draw=draw,
)
