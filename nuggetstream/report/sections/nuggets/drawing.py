"""The nuggets themselves."""

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Fact, Facts, Figure, Figures, State, Table
from nuggetstream.report.charts import BLUE, GREY, ORANGE, SKY, figure, names_axis
from nuggetstream.report.section import Content
from nuggetstream.report.sections.nuggets.grounding import NEAR, Grounding, Quartiles
from nuggetstream.report.sections.nuggets.numbers import LABELS, Nuggets, Spread
from nuggetstream.report.wording import number, of, percent, whole

_LOOKS = dict(
    zip(
        LABELS,
        ((BLUE, "stated"), (SKY, "stated in part"), (ORANGE, "missed"), (GREY, "no label")),
        strict=True,
    )
)


def draw(found: Nuggets) -> Content:
    """Counts, vital share, labels and diversity."""
    blocks: list[Block] = []
    if found.count and found.vital:
        blocks += [_facts(found), Figures("", {"": (_histogram(found), _labels(found))}), _table(found)]
        blocks += _grounding(found.grounding)
    else:
        blocks.append(State("No battle has nuggets."))
    return Content(
        finding=_finding(found),
        reading="A nugget is one fact a good answer needs; vital ones a good answer must state. Each is "
        "labelled once per answer. Diversity is 1 minus the mean Jaccard similarity of any two nuggets of "
        "a battle: near 1 they say different things, near 0 they repeat each other; the cosine of how often "
        "they use each term runs the other way. ROUGE-L recall is the "
        "share of a nugget's words that one sentence of a passage it was read from holds in the same order; "
        "that is overlap of words, and no check that the passage entails the nugget.",
        basis=of(found.battles, found.received) + " with nuggets",
        blocks=tuple(blocks),
    )


def _finding(found: Nuggets) -> str:
    if not found.count or not found.vital:
        return ""
    text = f"{number(found.count.mean, 1)} nuggets per battle, {percent(found.vital.mean, 0)} of them vital."
    if found.count.low == found.count.high:
        text += " Every battle has the same number: the list was cut at its limit, or the rule is fixed."
    return text


def _facts(found: Nuggets) -> Facts:
    facts = [Fact(whole(found.total), "nuggets", of(found.battles, found.received))]
    if found.count:
        facts.append(
            Fact(number(found.count.median, 0), "per battle, median", of(found.battles, found.received))
        )
    if found.vital:
        facts.append(
            Fact(percent(found.vital.mean, 0), "vital, mean", of(found.vital.battles, found.received))
        )
    if found.diversity:
        basis = of(found.diversity.battles, found.received)
        facts.append(Fact(number(found.diversity.mean), "diversity, mean", basis))
    return Facts(tuple(facts))


def _histogram(found: Nuggets) -> Figure:
    bars = go.Bar(
        x=list(found.histogram),
        y=list(found.histogram.values()),
        marker={"color": BLUE},
        hovertemplate="%{y} battles with %{x} nuggets<extra></extra>",
    )
    alt = "; ".join(f"{count} nuggets: {battles} battles" for count, battles in found.histogram.items())
    low, high = min(found.histogram), max(found.histogram)
    layout = {
        "xaxis": {
            "title": {"text": "nuggets per battle"},
            "range": [low - 3.5, high + 3.5],
            "tickformat": "d",
        },
        "yaxis": {"title": {"text": "battles"}},
    }
    return figure("Nuggets per battle", alt, [bars], 300, layout)


def _labels(found: Nuggets) -> Figure:
    names = [name for name, labels in found.labels.items() if sum(labels.values())]
    totals = {name: sum(found.labels[name].values()) for name in names}
    traces = [
        go.Bar(
            name=words,
            orientation="h",
            x=[found.labels[name][label] / totals[name] for name in names],
            y=list(range(len(names))),
            marker={"color": colour},
            customdata=[found.labels[name][label] for name in names],
            hovertemplate="%{x:.1%} (%{customdata} labels)",
        )
        for label, (colour, words) in _LOOKS.items()
        if any(found.labels[name][label] for name in names)
    ]
    alt = "; ".join(f"{name}: {found.labels[name]}" for name in names)
    layout = {
        "yaxis": names_axis(names),
        "xaxis": {"tickformat": ".0%", "title": {"text": "share of labels"}},
    }
    return figure("How often answers state them", alt, traces, 300, layout)


def _table(found: Nuggets) -> Table:
    rows = [
        _row("nuggets per battle", found.count, found.received, 1),
        _row("vital share", found.vital, found.received, 2),
        _row("diversity (Jaccard)", found.diversity, found.received, 2),
        _row("mean cosine of two nuggets", found.cosine, found.received, 2),
    ]
    columns = ("per battle", "mean", "least", "quarter below", "median", "quarter above", "most", "battles")
    labelled = [
        f"{name}: " + ", ".join(f"{words} {whole(labels[key])}" for key, (_, words) in _LOOKS.items())
        for name, labels in found.labels.items()
    ]
    return Table("Spread over battles", columns, rows, f"Labels. {'; '.join(labelled)}.", folded=True)


def _grounding(found: Grounding) -> list[Block]:
    """Nuggets against the passages they name, and what was measured of entailment."""
    read = f"{of(found.from_passages, found.nuggets, 'nuggets')} name a passage of the evidence, "
    read += f"{whole(found.from_answers)} answers only, {whole(found.unnamed)} nothing that is at hand."
    rows = [
        (name, *_quartiles(each, found.nuggets))
        for name, each in (
            ("ROUGE-L recall by their passages", found.recall),
            ("entailment", found.entailment),
        )
        if each
    ]
    blocks: list[Block] = []
    if rows:
        columns = ("per nugget", "mean", "quarter below", "median", "quarter above", "nuggets")
        near = f"{of(found.near, found.recall.nuggets, 'nuggets')} stand nearly whole" if found.recall else ""
        note = f"{read} {near} (recall at least {NEAR}) in one sentence." if near else read
        blocks.append(Table("Nuggets and their passages", columns, rows, note))
    else:
        blocks.append(State(f"Nuggets and their passages: nothing to compare. {read}"))
    if found.entailment is None:
        blocks.append(State("Entailment of nuggets by their passages: not measured."))
    return blocks


def _quartiles(each: Quartiles, total: int) -> tuple[str, ...]:
    values = (each.mean, each.quarter, each.median, each.three_quarters)
    return (*(number(value) for value in values), of(each.nuggets, total, ""))


def _row(name: str, spread: Spread | None, received: int, digits: int) -> tuple[str, ...]:
    if spread is None:
        return (name, *(["–"] * 6), of(0, received, ""))
    values = (spread.mean, spread.low, spread.quarter, spread.median, spread.three_quarters, spread.high)
    return (name, *(number(value, digits) for value in values), of(spread.battles, received, ""))
