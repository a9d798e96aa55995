"""How sure each nugget preference is, and whether sure ones are right more often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from nuggetstream.domain.battle import Vote
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import Results
from nuggetstream.nuggets.preference import PreferenceProbability, preference_probability
from nuggetstream.nuggets.scores import CREDIT
from nuggetstream.report.blocks import Block, Figure, Figures, State, Table
from nuggetstream.report.charts import (
    BLUE,
    GREY,
    figure,
    marks_with_intervals,
    names_axis,
    rows_height,
    share_axis,
)
from nuggetstream.report.section import Content, Section
from nuggetstream.report.wording import FEW_NOTE, dimension_name, of, share_of, span, whole
from nuggetstream.statistics.share import Share, share

EDGES = (0.0, 0.5, 0.7, 0.9, 1.0)  # of the bands of certainty, the upper one belonging to the band
SURE = 0.95
RESAMPLES = 1000
_SEED = 50
_DECIDED = (Vote.A, Vote.B)


@dataclass(frozen=True, slots=True)
class BattleProbability:
    """One battle: chances of each outcome when its nuggets are drawn again; they sum to 1."""

    battle_id: str
    nuggets: int
    a: float
    tie: float
    b: float

    @property
    def certainty(self) -> float:
        """Chance of the likeliest outcome."""
        return max(self.a, self.tie, self.b)


@dataclass(frozen=True, slots=True)
class Band:
    """Battles of like certainty.

    Attributes:
        low: certainty above this, in [0, 1].
        high: and up to this.
        battles: in the band.
        agree: with people, of those in which people and the likeliest outcome both prefer an answer.
    """

    low: float
    high: float
    battles: int
    agree: Share


@dataclass(frozen=True, slots=True)
class Certainty:
    """All battles.

    Attributes:
        dimension: the human dimension that agreement is with; None without one.
        received: battles.
        scored: battles with a nugget preference.
        few_nuggets: of those, with fewer than two nuggets: nothing to draw again.
        unlabelled: of those, with a nugget that lacks a label.
        sure: certainty of at least 95 %, of the battles with a probability.
        bands: by certainty, rising.
        battles: in the order of the file.
    """

    dimension: str | None
    received: int
    scored: int
    few_nuggets: int
    unlabelled: int
    sure: Share
    bands: tuple[Band, ...]
    battles: tuple[BattleProbability, ...]


def compute(results: Results) -> Certainty:
    """A probability per battle, and agreement with people by certainty."""
    rng = np.random.default_rng(_SEED)
    dimension = results.dimensions[0] if results.dimensions else None
    scored = [row for row in results.battles if row.nugget_verdict is not None]
    unlabelled = [row for row in scored if any(n.a is None or n.b is None for n in row.nuggets)]
    lost = {row.id for row in unlabelled}
    labelled = [row for row in scored if row.id not in lost]
    able = [row for row in labelled if len(row.nuggets) > 1]
    found = [(row, _probability(row, rng)) for row in able]
    battles = tuple(
        BattleProbability(row.id, len(row.nuggets), each.a, each.tie, each.b) for row, each in found
    )
    human = {
        battle.id: battle.preferences[dimension]
        for battle in results.battles
        if dimension is not None and dimension in battle.preferences
    }
    judged = [
        (each.certainty, likely.likeliest, human.get(row.id))
        for each, (row, likely) in zip(battles, found, strict=True)
    ]
    return Certainty(
        dimension=dimension,
        received=results.received,
        scored=len(scored),
        few_nuggets=len(labelled) - len(able),
        unlabelled=len(unlabelled),
        sure=share(sum(each.certainty >= SURE for each in battles), len(battles)),
        bands=tuple(_band(low, high, judged) for low, high in pairwise(EDGES)),
        battles=battles,
    )


def _probability(row: BattleRow, rng: np.random.Generator) -> PreferenceProbability:
    a, b = (
        np.array([CREDIT[label.support] for label in labels if label is not None])
        for labels in ([n.a for n in row.nuggets], [n.b for n in row.nuggets])
    )
    threshold = row.nugget_verdict.tie_threshold if row.nugget_verdict else 0.0
    return preference_probability(a, b, threshold, rng, RESAMPLES)


def _band(low: float, high: float, judged: Sequence[tuple[float, Vote, Vote | None]]) -> Band:
    own = [(likely, human) for certainty, likely, human in judged if low < certainty <= high]
    both = [(likely, human) for likely, human in own if likely in _DECIDED and human in _DECIDED]
    return Band(low, high, len(own), share(sum(likely is human for likely, human in both), len(both)))


_BINS = 20


def draw(found: Certainty) -> Content:
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
    return Content(
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
    points = marks_with_intervals(
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


SECTION = Section(
    name="certainty",
    title="Certainty of a preference",
    question="Would other nuggets have led to another winner?",
    compute=compute,
    draw=draw,
)
