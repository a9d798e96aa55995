"""How sure each nugget preference is."""

from collections import Counter

import plotly.graph_objects as go

from nuggetstream.report.blocks import Block, Figure, Figures, Section, State, Table
from nuggetstream.report.drawing.style import (
    BLUE,
    GREY,
    figure,
    interval,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.drawing.words import FEW_NOTE, dimension_name, of, share_of, span, whole
from nuggetstream.report.numbers.certainty import RESAMPLES, SURE, Band, Certainty

_BINS = 20


def draw(found: Certainty) -> Section:
    """A histogram of certainty, and agreement with people by certainty."""
    blocks: list[Block] = []
    if found.battles:
        charts = [_histogram(found)]
        if any(band.agree.value is not None for band in found.bands):
            charts.append(_bands(found))
        blocks += [Figures("", {"": tuple(charts)}), _table(found)]
    else:
        blocks.append(State("No battle has two labelled nuggets, so no preference has a probability."))
    if found.battles and found.dimension is None:
        blocks.append(State("No battle has a human preference: nobody knows whether sure ones are right."))
    left = ((found.few_nuggets, "fewer than two nuggets"), (found.unlabelled, "a nugget without a label"))
    for count, why in left:
        if count:
            text = f"{of(count, found.scored, 'scored battles')} have {why}: no probability for them."
            blocks.append(State(text))
    return Section(
        name="certainty",
        title="Certainty of a preference",
        question="Would other nuggets have led to another winner?",
        finding=_finding(found),
        reading="The nuggets of a battle are a sample of what a good answer needs. Each battle's are drawn "
        f"again {whole(RESAMPLES)} times, and its certainty is the share of draws in which the likeliest "
        "outcome (A, tie or B) comes out. It says how far the choice of nuggets matters, not whether the "
        "nuggets or their labels are right; that is what agreement with people by certainty shows. "
        "report.json has all three probabilities of each battle.",
        basis=of(len(found.battles), found.received),
        blocks=tuple(blocks),
    )


def _finding(found: Certainty) -> str:
    if found.sure.value is None:
        return ""
    text = f"{share_of(found.sure)} preferences are at least {SURE:.0%} sure."
    top = found.bands[-1]
    if found.dimension is not None and top.agree.value is not None:
        text += (
            f" Of those more than {top.low:.0%} sure, people share {share_of(top.agree)} of the decisions."
        )
    return text


def _histogram(found: Certainty) -> Figure:
    counts = Counter(min(int(each.certainty * _BINS), _BINS - 1) for each in found.battles)
    places = range(min(counts), _BINS)
    bars = go.Bar(
        x=[(place + 0.5) / _BINS for place in places],
        y=[counts[place] for place in places],
        width=0.9 / _BINS,
        marker={"color": BLUE},
        hovertemplate="%{y} battles around %{x:.0%}<extra></extra>",
    )
    alt = "; ".join(f"{place / _BINS:.0%} and more: {counts[place]} battles" for place in places)
    layout = {
        "xaxis": {"title": {"text": "chance of the likeliest outcome"}, "tickformat": ".0%"},
        "yaxis": {"title": {"text": "battles"}},
    }
    return figure("Certainty of the nugget preference", alt, [bars], 300, layout)


def _name(band: Band) -> str:
    return f"{band.low:.0%} to {band.high:.0%} sure"


def _bands(found: Certainty) -> Figure:
    known = [band for band in found.bands if band.agree.value is not None]
    points = interval(
        "agreement",
        [band.agree.value or 0.0 for band in known],
        list(range(len(known))),
        [band.agree.low or 0.0 for band in known],
        [band.agree.high or 0.0 for band in known],
        marker={"color": BLUE, "symbol": "diamond", "size": 11},
        customdata=[(band.agree.count, band.agree.of) for band in known],
        hovertemplate="%{x:.1%} (%{customdata[0]} of %{customdata[1]})<extra></extra>",
    )
    half = {"type": "line", "x0": 0.5, "x1": 0.5, "y0": 0, "y1": 1, "yref": "paper"}
    layout = {
        "yaxis": names_axis([_name(band) for band in known]),
        "xaxis": share_axis("agreement where both decide", range=[-0.02, 1.02]),
        "shapes": [{**half, "line": {"color": GREY, "dash": "dot", "width": 1.5}}],
    }
    alt = "; ".join(f"{_name(band)}: {share_of(band.agree)}" for band in known)
    title = f"Agreement by certainty: {dimension_name(found.dimension or '')}"
    return figure(title, alt, [points], max(300, rows_height(len(known), 44)), layout)


def _table(found: Certainty) -> Table:
    rows = [
        (
            _name(band),
            of(band.battles, len(found.battles), ""),
            share_of(band.agree),
            span(band.agree.low, band.agree.high),
        )
        for band in found.bands
    ]
    columns = ("certainty", "battles", "agrees with people", "95%")
    note = f"Of battles in which people and the likeliest outcome both prefer an answer. {FEW_NOTE}"
    return Table("By certainty", columns, rows, note, folded=True)
