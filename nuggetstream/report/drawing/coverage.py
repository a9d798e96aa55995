"""What the report rests on."""

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Fact, Facts, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import BLUE, GREY, figure, names_axis, rows_height
from nuggetstream.report.drawing.words import of, percent, whole
from nuggetstream.report.numbers.coverage import Coverage


def draw(found: Coverage) -> Section:
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
    return Section(
        name="coverage",
        title="Coverage",
        question="How much of what was received could be scored?",
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
